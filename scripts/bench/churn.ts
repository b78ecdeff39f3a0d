import { createSocket } from "node:dgram";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeAddress } from "../../src/network/dialer.ts";
import { encodePacket } from "../../src/network/discovery/packets.ts";
import { hexToBytes } from "../../src/primitives/hex.ts";
import { newIdentity } from "../../test/cluster/harness/hostileMessages.ts";
import { callAsHostile } from "../../test/cluster/harness/hostilePeer.ts";
import { type Contender, freePort, startProgram } from "./contenders.ts";
import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { pause } from "./pause.ts";
import { accounts, signDraft } from "./workload.ts";

/** What the node holds at one time, after a garbage collection. */
interface Sample {
  readonly atSeconds: number;
  /** Resident memory of its own, and mapped files, among them the tables of the database, which the system may take back. */
  readonly anonymousMb: number;
  readonly mappedMb: number;
  readonly heapMb: number;
  /** Buffers outside of the heap. */
  readonly externalMb: number;
  /** Timers that keep the process alive. */
  readonly timers: number;
  /** Everything else that does: sockets, servers, requests. */
  readonly handles: number;
  readonly files: number;
  readonly sockets: number;
  readonly threads: number;
}

const SAMPLES = 120;
/** Peers that connect at the same time, one after the other each. */
const VISITORS = 6;
const STAYS_MS = { least: 500, most: 8000 };
const FOLLOWER_RUNS_MS = 45_000;
const RECIPIENT = "0x00000000000000000000000000000000c0ffee00";

/**
 * One validator under `perSecond` transfers a second, while peers come and go for `seconds`: six that speak eth and stay for
 * seconds, one that leaves in the middle of the handshake, a real node that is restarted, and outsiders that ping over UDP.
 * Prints what the node holds over time: flat lines show that it forgets those who left.
 */
export async function measureChurn(seconds: number, perSecond: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-churn-"));
  const peerPort = await freePort();
  const node = await startWatched(folder, peerPort, Math.max(1, seconds / SAMPLES));
  const client = createRpcClient(node.port, 4);
  const endAtMs = Date.now() + seconds * 1000;
  const isOver = (): boolean => Date.now() > endAtMs;
  const enode = await client.call<string>("net_enode");
  const address = { nodeId: hexToBytes(`0x${enode.slice(8, 136)}`), host: "127.0.0.1", tcpPort: peerPort };
  const counts = { greeted: 0, refused: 0, halfOpen: 0, followers: 0, sent: 0 };
  const work = [
    ...Array.from({ length: VISITORS }, () => visit(address, isOver, counts)),
    leaveEarly(address, isOver, counts),
    pingAsOutsiders(address, isOver),
    restartFollower(folder, enode, isOver, counts),
    sendTransfers(client, perSecond, isOver, counts),
  ];
  const samples = await takeSamples(node, folder, seconds, isOver);
  await Promise.all(work);
  const head = Number(await client.call<string>("eth_blockNumber"));
  client.close();
  await node.stop();
  printSamples(samples);
  console.log(`${head} blocks in ${seconds} s; ${JSON.stringify(counts)}`);
  rmSync(folder, { recursive: true, force: true });
}

interface Counts {
  /** Peers that got as far as the node's head probe, and those that were refused. */
  greeted: number;
  refused: number;
  halfOpen: number;
  followers: number;
  sent: number;
}

function startWatched(folder: string, peerPort: number, everySeconds: number): Promise<Contender> {
  const code = `
    import { isMainThread } from "node:worker_threads";
    import { appendFileSync } from "node:fs";
    if (isMainThread) setInterval(() => {
      gc();
      const { heapUsed, external } = process.memoryUsage();
      const active = process.getActiveResourcesInfo();
      const timers = active.filter((name) => name === "Timeout").length;
      const line = JSON.stringify({ heapUsed, external, timers, handles: active.length - timers });
      appendFileSync(${JSON.stringify(join(folder, "held"))}, line + "\\n");
    }, ${everySeconds * 1000}).unref();`;
  const options = [
    "--logging=WARN",
    `--p2p-port=${peerPort}`,
    "--p2p-interface=127.0.0.1",
    "--p2p-enabled=true",
    "--discovery-enabled=true",
    "--max-peers=25",
    "--rpc-http-enabled",
    "--rpc-http-api=ETH,NET,ADMIN",
  ];
  const dataPath = join(folder, "node");
  mkdirSync(dataPath);
  return startProgram(dataPath, options, join(folder, "node.log"), [
    "--expose-gc",
    "--import",
    `data:text/javascript,${encodeURIComponent(code)}`,
  ]);
}

/** Greets the node as new peers, one after the other, each of which stays for some seconds. */
async function visit(address: NodeAddress, isOver: () => boolean, counts: Counts): Promise<void> {
  while (!isOver()) {
    const peer = callAsHostile(address, newIdentity());
    if (await peer.isGreeted) counts.greeted++;
    else counts.refused++;
    await pause(STAYS_MS.least + Math.random() * (STAYS_MS.most - STAYS_MS.least));
    peer.socket.destroy();
  }
}

/** Connects and leaves: before a byte, after some of them, in the middle of a handshake. */
async function leaveEarly(address: NodeAddress, isOver: () => boolean, counts: Counts): Promise<void> {
  while (!isOver()) {
    const socket = connect({ host: address.host, port: address.tcpPort });
    socket.on("error", () => undefined);
    if (counts.halfOpen % 2 === 0) socket.on("connect", () => socket.write(Buffer.of(1, 0x85, 4, 7)));
    await pause(1000 + Math.random() * 4000);
    socket.destroy();
    counts.halfOpen++;
  }
}

async function pingAsOutsiders(address: NodeAddress, isOver: () => boolean): Promise<void> {
  const socket = createSocket("udp4");
  while (!isOver()) {
    const endpoint = { ip: "127.0.0.1", udpPort: address.tcpPort, tcpPort: address.tcpPort };
    const expiration = BigInt(Math.floor(Date.now() / 1000) + 20);
    const packet = { kind: "ping", from: endpoint, to: endpoint, expiration, recordSequence: 1n } as const;
    const { bytes } = encodePacket(packet, newIdentity().privateKey);
    await new Promise((resolve) => socket.send(bytes, address.tcpPort, "127.0.0.1", resolve));
    await pause(1000);
  }
  socket.close();
}

/** A real node that follows the chain, and is stopped and started again, each time with a new key. */
async function restartFollower(
  folder: string,
  enode: string,
  isOver: () => boolean,
  counts: Counts,
): Promise<void> {
  while (!isOver()) {
    const dataPath = join(folder, `follower${counts.followers}`);
    mkdirSync(dataPath);
    const follower = await startProgram(dataPath, [
      "--logging=WARN",
      `--p2p-port=${await freePort()}`,
      "--p2p-interface=127.0.0.1",
      `--bootnodes=${enode}`,
      "--rpc-http-enabled",
      "--rpc-http-api=ETH,NET",
      "--genesis-file=genesis/dev.json",
    ]);
    const untilMs = Date.now() + FOLLOWER_RUNS_MS;
    while (!isOver() && Date.now() < untilMs) await pause(500);
    await follower.stop();
    rmSync(dataPath, { recursive: true, force: true });
    counts.followers++;
  }
}

async function sendTransfers(
  client: RpcClient,
  perSecond: number,
  isOver: () => boolean,
  counts: Counts,
): Promise<void> {
  const [sender] = accounts;
  if (sender === undefined) throw new Error("no account");
  const beganAtMs = Date.now();
  while (!isOver()) {
    const due = Math.min(perSecond, Math.floor(((Date.now() - beganAtMs) / 1000) * perSecond) - counts.sent);
    const calls = Array.from({ length: Math.max(0, due) }, () => {
      const draft = { to: RECIPIENT, value: 1n, gasLimit: 21_000n } as const;
      return ["eth_sendRawTransaction", [signDraft(draft, counts.sent++, sender.privateKey)]] as const;
    });
    if (calls.length > 0) await client.batch(calls);
    await pause(200);
  }
}

async function takeSamples(
  node: Contender,
  folder: string,
  seconds: number,
  isOver: () => boolean,
): Promise<readonly Sample[]> {
  const startedAtMs = Date.now();
  const samples: Sample[] = [];
  while (!isOver()) {
    await pause((seconds * 1000) / SAMPLES);
    const sample = sampleOf(node, folder, (Date.now() - startedAtMs) / 1000);
    if (sample === undefined) continue;
    samples.push(sample);
    console.log(JSON.stringify(sample));
  }
  return samples;
}

function sampleOf({ pid }: Contender, folder: string, atSeconds: number): Sample | undefined {
  const last = readOrEmpty(join(folder, "held")).trim().split("\n").at(-1);
  if (last === undefined || last === "") return undefined;
  const { heapUsed, external, timers, handles } = JSON.parse(last) as Record<string, number>;
  const files = readdirSync(`/proc/${pid}/fd`);
  const status = readOrEmpty(`/proc/${pid}/status`);
  const statusOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
  const memoryOf = (name: string): number => megabytes(statusOf(name) * 1024);
  const megabytes = (bytes = 0): number => Math.round((bytes / 2 ** 20) * 10) / 10;
  return {
    atSeconds: Math.round(atSeconds),
    anonymousMb: memoryOf("RssAnon"),
    mappedMb: memoryOf("RssFile"),
    heapMb: megabytes(heapUsed),
    externalMb: megabytes(external),
    timers: timers ?? 0,
    handles: handles ?? 0,
    files: files.length,
    sockets: files.filter((file) => isSocket(`/proc/${pid}/fd/${file}`)).length,
    threads: statusOf("Threads"),
  };
}

/** False for a file that was closed meanwhile. */
function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith("socket:");
  } catch {
    return false;
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Means over six equal parts of the time, and the difference between the last part and the second one. */
function printSamples(samples: readonly Sample[]): void {
  const names = [
    "anonymousMb",
    "mappedMb",
    "heapMb",
    "externalMb",
    "timers",
    "handles",
    "files",
    "sockets",
    "threads",
  ] as const;
  const parts = Array.from({ length: PARTS }, (_, part) =>
    samples.slice(
      Math.floor((part * samples.length) / PARTS),
      Math.floor(((part + 1) * samples.length) / PARTS),
    ),
  );
  console.log(`\nwhat the node holds, means over ${PARTS} parts of the time`);
  for (const name of names) {
    const means = parts.map((part) => part.reduce((sum, sample) => sum + sample[name], 0) / part.length);
    console.log(name.padEnd(12), means.map((mean) => mean.toFixed(1).padStart(8)).join(""));
  }
}

const PARTS = 6;
