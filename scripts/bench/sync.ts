import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DiskBytes, diskBytesOf } from "../../test/builders/diskBytes.ts";
import { type MadeChain, makeChain } from "../../test/builders/madeChain.ts";
import { longestPauseMs, watchingPauses } from "../../test/cluster/harness/loopPauses.ts";
import { type Contender, freePort, startProgram } from "./contenders.ts";
import { createRpcClient } from "./httpClient.ts";
import { pause } from "./pause.ts";

/** A chain to sync, by what its blocks hold. */
interface Workload {
  readonly name: string;
  readonly blocks: number;
  readonly transactions: number;
  readonly reward: bigint;
}

const WORKLOADS: readonly Workload[] = [
  { name: "empty blocks", blocks: 20_000, transactions: 0, reward: 0n },
  { name: "empty blocks with a reward", blocks: 20_000, transactions: 0, reward: 2n * 10n ** 18n },
  { name: "full blocks", blocks: 150, transactions: 200_000, reward: 0n },
];
const LONGEST_MS = 600_000;

/**
 * Syncs a new node from `peers` nodes on this computer, each with the same chain of four validators, and prints its speed,
 * its CPU over all threads (without that of a start), the longest pause of its main thread, and its largest memory. The CPU of the peers is told apart.
 */
export async function measureSync(peers: number): Promise<void> {
  for (const workload of WORKLOADS) {
    const folder = mkdtempSync(join(tmpdir(), "ibex-sync-"));
    const made = await makeChain({ folder, validators: 4, seed: 1, spread: "even", ...workload });
    printRun(workload, made, await syncFrom(made, folder, peers));
    printBytes(workload, made, await diskBytesOf(join(folder, "fresh")));
    rmSync(folder, { recursive: true, force: true });
  }
}

interface SyncRun {
  readonly seconds: number;
  readonly longestPauseMs: number;
  readonly cpuSeconds: number;
  readonly peersCpuSeconds: number;
  readonly peakMb: number;
}

async function syncFrom(made: MadeChain, folder: string, count: number): Promise<SyncRun> {
  const servers: Contender[] = [];
  const enodes: string[] = [];
  for (let index = 0; index < count; index++) {
    // All but the first have got the chain from those before.
    const dataPath = index === 0 ? made.dataPath : join(folder, `server${index}`);
    const server = await startNode(made, dataPath, enodes);
    if (index > 0) await untilHead(server, made.head);
    enodes.push(await enodeOf(server));
    servers.push(server);
  }
  const cpuOf = (): number => servers.reduce((sum, server) => sum + server.cpuSeconds(), 0);
  const idle = await startNode(made, join(folder, "idle"), []);
  const startCpuSeconds = idle.cpuSeconds();
  await idle.stop();
  const [peersBefore, startedAtMs] = [cpuOf(), performance.now()];
  const pauseFile = join(folder, "pauses");
  const fresh = await startNode(made, join(folder, "fresh"), enodes, watchingPauses(pauseFile));
  const syncingSinceMs = Date.now();
  await untilHead(fresh, made.head);
  const run = {
    seconds: (performance.now() - startedAtMs - fresh.firstAnswerMs) / 1000,
    longestPauseMs: longestPauseMs(pauseFile, syncingSinceMs, Date.now()),
    cpuSeconds: fresh.cpuSeconds() - startCpuSeconds,
    peersCpuSeconds: cpuOf() - peersBefore,
    peakMb: peakMb(fresh),
  };
  await Promise.all([fresh, ...servers].map((node) => node.stop()));
  return run;
}

async function startNode(
  made: MadeChain,
  dataPath: string,
  enodes: readonly string[],
  nodeOptions: readonly string[] = [],
): Promise<Contender> {
  mkdirSync(dataPath, { recursive: true });
  writeFileSync(join(dataPath, "static-nodes.json"), JSON.stringify(enodes));
  const options = [
    `--genesis-file=${made.genesisFile}`,
    `--p2p-port=${await freePort()}`,
    "--p2p-interface=127.0.0.1",
    "--p2p-host=127.0.0.1",
    "--discovery-enabled=false",
    "--rpc-http-enabled",
    "--rpc-http-api=ETH,NET",
    "--min-gas-price=0",
    "--logging=WARN",
  ];
  return startProgram(dataPath, options, undefined, nodeOptions);
}

async function enodeOf({ port }: Contender): Promise<string> {
  const client = createRpcClient(port, 1);
  const enode = await client.call<string>("net_enode");
  client.close();
  return enode;
}

async function untilHead({ port }: Contender, hash: string): Promise<void> {
  const client = createRpcClient(port, 1);
  const deadlineMs = Date.now() + LONGEST_MS;
  for (;;) {
    const head = await client.call<{ hash: string }>("eth_getBlockByNumber", ["latest", false]);
    if (head.hash === hash) break;
    if (Date.now() > deadlineMs) throw new Error("the node did not arrive at the head");
    await pause(20);
  }
  client.close();
}

function peakMb({ pid }: Contender): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

function printRun({ name, blocks }: Workload, { transactions, gasUsed }: MadeChain, run: SyncRun): void {
  const { seconds, cpuSeconds, peersCpuSeconds, peakMb: peak } = run;
  const per = (count: number): string => ((cpuSeconds * 1e6) / count).toFixed(0);
  console.log(`\nsync, ${blocks} ${name}, ${transactions} transactions: ${seconds.toFixed(1)} s`);
  console.log(`blocks per second        ${(blocks / seconds).toFixed(0)}`);
  console.log(`transactions per second  ${(transactions / seconds).toFixed(0)}`);
  console.log(`Mgas per second          ${(Number(gasUsed) / 1e6 / seconds).toFixed(1)}`);
  console.log(
    `CPU, all threads, us     ${per(blocks)} a block${transactions > 1_000 ? `, ${per(transactions)} a transaction` : ""}`,
  );
  console.log(`CPU of the peers         ${((100 * peersCpuSeconds) / cpuSeconds).toFixed(0)} % of that`);
  console.log(`main thread held, ms     ${run.longestPauseMs.toFixed(0)} at most`);
  console.log(`largest memory, MB       ${peak.toFixed(0)}`);
}

function printBytes({ blocks }: Workload, { transactions }: MadeChain, { files, kinds }: DiskBytes): void {
  const [count, unit] = transactions > 1_000 ? [transactions, "transaction"] : [blocks, "block"];
  const parts = kinds
    .filter(([, bytes]) => bytes / count >= 1)
    .map(([kind, bytes]) => `${kind} ${(bytes / count).toFixed(0)}`);
  console.log(`bytes on disk per ${unit}  ${(files / count).toFixed(0)}: ${parts.join(", ")}`);
}
