import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contender, freePort, startProgram } from "../contenders.ts";
import { createRpcClient } from "../httpClient.ts";
import { startValidators } from "../network.ts";
import { pause } from "../pause.ts";
import { sendTransfers, type WorkCounts, workAndAbandon } from "./abandonedWork.ts";
import { makeSmallMachine } from "./smallMachine.ts";
import { readHeaps, watchHeaps } from "./threadHeaps.ts";

const SAMPLE_EVERY_MS = 60_000;

export interface MemoryRun {
  readonly minutes: number;
  readonly perSecond: number;
  /** Memory of the development node's machine, in MB; undefined for this machine. */
  readonly machineMb: number | undefined;
  /** One for the development network as `npm start` makes it. */
  readonly validators: number;
  readonly hasFollower: boolean;
  /** Options of each node. */
  readonly nodeOptions: readonly string[];
}

/**
 * What nodes hold over time, sampled each minute: memory of their own, mapped files, and the heap of each thread. One
 * development node under clients that abandon what they take, or validators and a follower that share transfers.
 */
export async function measureMemory(run: MemoryRun): Promise<void> {
  if (run.validators === 1 && !run.hasFollower) await watchDevelopmentNode(run);
  else await watchNetwork(run);
}

async function watchDevelopmentNode({
  minutes,
  perSecond,
  machineMb,
  nodeOptions,
}: MemoryRun): Promise<void> {
  const machine = machineMb === undefined ? undefined : makeSmallMachine(machineMb);
  const folder = mkdtempSync(join(tmpdir(), "ibex-memory-"));
  const heaps = makeFolder(folder, "heaps");
  const runtimeOptions = watchHeaps(heaps);
  const node = await startProgram(
    join(folder, "data"),
    nodeOptions,
    undefined,
    runtimeOptions,
    machine?.launcher,
  );
  try {
    await watch([{ name: "node", node, heaps }], minutes, (isOver, counts) =>
      workAndAbandon({ http: node.port, ws: node.wsPort }, perSecond, isOver, counts),
    );
  } finally {
    await node.stop();
    if (machine !== undefined) {
      const { bytes, refusals } = machine.peak();
      console.log(
        `a machine of ${machineMb} MB had ${megabytes(bytes)} MB at most, and met its limit ${refusals} times`,
      );
      machine.remove();
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

async function watchNetwork({
  minutes,
  perSecond,
  validators,
  hasFollower,
  nodeOptions,
}: MemoryRun): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-memory-"));
  // With it the follower has the index by address.
  const explorer = ["--explorer-enabled", `--explorer-port=${await freePort()}`];
  const heapsOf = (index: number): string => join(folder, `${index}`);
  const network = await startValidators(validators, {
    followers: hasFollower ? 1 : 0,
    optionsOf: (index) => (index < validators ? nodeOptions : [...nodeOptions, ...explorer]),
    runtimeOptionsOf: (index) => watchHeaps(makeFolder(folder, `${index}`)),
  });
  try {
    const watched = network.nodes.map((node, index) => ({
      name: index < validators ? `validator ${index}` : "follower",
      node,
      heaps: heapsOf(index),
    }));
    await watch(watched, minutes, async (isOver, counts) => {
      const client = createRpcClient(network.nodes[0]?.port ?? 0, 4);
      await sendTransfers(client, perSecond, isOver, counts);
      client.close();
    });
  } finally {
    await network.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Watched {
  readonly name: string;
  readonly node: Contender;
  /** The folder that its threads write to. */
  readonly heaps: string;
}

async function watch(
  watched: readonly Watched[],
  minutes: number,
  work: (isOver: () => boolean, counts: WorkCounts) => Promise<void>,
): Promise<void> {
  const counts: WorkCounts = { sent: 0, mined: 0, filters: 0, sockets: 0, queries: 0, errors: 0 };
  const beganAtMs = Date.now();
  const isOver = (): boolean => Date.now() > beganAtMs + minutes * 60_000;
  const working = work(isOver, counts);
  for (let minute = 1; minute <= minutes; minute++) {
    await pause(Math.max(0, beganAtMs + minute * SAMPLE_EVERY_MS - Date.now()));
    for (const one of watched) console.log(describe(one, minute));
    console.log(`minute ${minute} ${JSON.stringify(counts)}`);
  }
  await working;
}

function describe({ name, node: { pid }, heaps }: Watched, minute: number): string {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const memoryOf = (field: string): string =>
    megabytes(Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) * 1024);
  const threads = readHeaps(heaps).map(
    ({ thread, usedBytes, committedBytes, youngBytes, bufferBytes }) =>
      `${thread} ${megabytes(usedBytes)}/${megabytes(committedBytes)} (young ${megabytes(youngBytes)}) +${megabytes(bufferBytes)}`,
  );
  return `minute ${minute} ${name}: own ${memoryOf("RssAnon")} MB, mapped ${memoryOf("RssFile")} MB; ${threads.join("; ")}`;
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}

function makeFolder(parent: string, name: string): string {
  const folder = join(parent, name);
  mkdirSync(folder);
  return folder;
}
