import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEV_VALIDATOR_KEY_FILE } from "../../src/config/devNetwork.ts";
import { root } from "./contenders.ts";
import { pause } from "./pause.ts";

/** Beside the bootnode. The first of them is the validator of the development network. */
const NODES = 20;
const PORT = 8545;
const PHASE_MS = 400_000;
/** How long the network is watched without its bootnode. */
const WATCHED_MS = 30_000;
const INSIDE = "IBEX_BENCH_MESH";

interface Place {
  readonly ip: string;
  readonly dataPath: string;
  readonly options: readonly string[];
  child: ChildProcess | undefined;
}

/**
 * Twenty nodes and a bootnode, each in a network namespace with an address of its own, joined by a bridge: prints how long
 * they take to find each other, whether they stay connected and follow the chain when the bootnode dies, and how long they
 * take after a restart of all without it. Needs Linux, `ip`, and the right to make namespaces.
 */
export async function measureMesh(): Promise<void> {
  if (process.env[INSIDE] === undefined) return runInNamespace();
  execFileSync("sh", [
    "-ec",
    "ip link set lo up; ip link add bridge type bridge; ip addr add 10.77.255.254/16 dev bridge; ip link set bridge up",
  ]);
  const folder = mkdtempSync(join(tmpdir(), "ibex-mesh-"));
  const bootnode = placeOf(folder, 0, ["--p2p-host=10.77.0.1"]);
  let nodes: readonly Place[] = [];
  try {
    await start(bootnode);
    const enode = await until(() => ask<string>(bootnode, "net_enode"));
    nodes = Array.from({ length: NODES }, (_, at) =>
      placeOf(folder, at + 1, [
        `--bootnodes=${enode}`,
        ...(at === 0 ? [`--node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`] : []),
      ]),
    );
    const beganAtMs = Date.now();
    await Promise.all(nodes.map(start));
    await untilPeers(nodes, NODES);
    console.log(`\n${NODES} nodes in network namespaces, told of one bootnode`);
    console.log(`all connected with all: ${secondsSince(beganAtMs)} s after the first start`);

    await stop(bootnode, "SIGKILL");
    await watch(nodes);

    await Promise.all(nodes.map((node) => stop(node, "SIGTERM")));
    const againAtMs = Date.now();
    await Promise.all(nodes.map(start));
    await untilPeers(nodes, NODES - 1);
    console.log(`after a restart of all without it, all connected with all: ${secondsSince(againAtMs)} s`);
    await watch(nodes);
  } finally {
    await Promise.all([bootnode, ...nodes].map((node) => stop(node, "SIGKILL")));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs this part again in a network namespace of its own, which ends with it. */
function runInNamespace(): void {
  const ownRight = process.getuid?.() === 0 ? [] : ["-r"];
  const { status } = spawnSync("unshare", [...ownRight, "-n", process.execPath, ...process.argv.slice(1)], {
    stdio: "inherit",
    env: { ...process.env, [INSIDE]: "yes" },
  });
  if (status !== 0)
    console.log("mesh: no network namespaces can be made here, or a phase did not end in time");
}

function placeOf(folder: string, number: number, options: readonly string[]): Place {
  const dataPath = join(folder, `${number}`);
  mkdirSync(dataPath);
  return { ip: `10.77.${number >> 4}.${(number & 15) + 1}`, dataPath, options, child: undefined };
}

/** The process waits in its namespace until that has its address. */
async function start(place: Place): Promise<void> {
  const { ip, dataPath, options } = place;
  const words = [
    join(root, "dist", "main.js"),
    `--data-path=${dataPath}`,
    `--genesis-file=${join(root, "genesis", "dev.json")}`,
    "--logging=WARN",
    "--rpc-http-enabled",
    "--rpc-http-host=0.0.0.0",
    "--host-allowlist=*",
    "--rpc-http-api=ETH,NET",
    ...options,
  ];
  const waiting = 'echo here; read line; exec "$@"';
  const child = spawn("unshare", ["-n", "sh", "-c", waiting, "sh", process.execPath, ...words], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  place.child = child;
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.stdout.resume();
  const name = `v${ip.split(".").slice(2).join("-")}`;
  spawnSync("ip", ["link", "del", name], { stdio: "ignore" });
  const inside = `nsenter -t ${child.pid} -n ip`;
  execFileSync("sh", [
    "-ec",
    `ip link add ${name} type veth peer name eth0 netns ${child.pid}; ip link set ${name} master bridge up
     ${inside} addr add ${ip}/16 dev eth0; ${inside} link set eth0 up; ${inside} link set lo up`,
  ]);
  child.stdin.end("\n");
}

function stop({ child }: Place, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}

/** Prints the fewest peers that any node has for a while, and how far the chain came on the slowest. */
async function watch(nodes: readonly Place[]): Promise<void> {
  const before = await headsOf(nodes);
  const endAtMs = Date.now() + WATCHED_MS;
  let fewest = Number.POSITIVE_INFINITY;
  // Some seconds for the end of the bootnode to be seen.
  await pause(5000);
  while (Date.now() < endAtMs) {
    fewest = Math.min(fewest, ...(await peersOf(nodes)));
    await pause(1000);
  }
  const after = await headsOf(nodes);
  const made = after.map((head, at) => head - (before[at] ?? 0));
  console.log(
    `without the bootnode for ${WATCHED_MS / 1000} s: at least ${fewest} peers each, ${Math.min(...made)} to ${Math.max(...made)} blocks each`,
  );
}

async function untilPeers(nodes: readonly Place[], count: number): Promise<void> {
  await until(async () => ((await peersOf(nodes)).every((peers) => peers >= count) ? true : undefined));
}

const peersOf = (nodes: readonly Place[]): Promise<readonly number[]> => quantitiesOf(nodes, "net_peerCount");
const headsOf = (nodes: readonly Place[]): Promise<readonly number[]> =>
  quantitiesOf(nodes, "eth_blockNumber");

/** -1 for a node that does not answer. */
function quantitiesOf(nodes: readonly Place[], method: string): Promise<readonly number[]> {
  return Promise.all(
    nodes.map(async (node) =>
      ask<string>(node, method).then(
        (quantity) => Number(quantity ?? -1),
        () => -1,
      ),
    ),
  );
}

async function ask<T>({ ip }: Place, method: string): Promise<T | undefined> {
  const response = await fetch(`http://${ip}:${PORT}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] }),
  });
  return ((await response.json()) as { readonly result?: T }).result;
}

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  const endAtMs = Date.now() + PHASE_MS;
  while (Date.now() < endAtMs) {
    const value = await read().catch(() => undefined);
    if (value !== undefined) return value;
    await pause(250);
  }
  throw new Error("the nodes did not get so far in time");
}

function secondsSince(fromMs: number): string {
  return ((Date.now() - fromMs) / 1000).toFixed(0);
}
