import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchBlocks } from "./blockWatch.ts";
import { type Contender, IBEX, startProgram } from "./contenders.ts";
import { createRpcClient, type RpcClient } from "./httpClient.ts";
import { pause } from "./pause.ts";
import { atQuantile } from "./report.ts";
import { cpuByName, nameThreadsIn } from "./threadCpu.ts";
import { sendFromOwnProcess } from "./throughput.ts";
import { BATCH_SIZE, senderAddresses, transferWorkload } from "./workload.ts";

export interface FirstBurstOrder {
  readonly rounds: number;
  /** The `main.js` of another build, measured in turns with this one. */
  readonly against: string | undefined;
}

interface Burst {
  /** Transactions of each block, from the first one that has any. */
  readonly fill: readonly number[];
  /** CPU of the node for a transaction by thread, µs. */
  readonly cost: ReadonlyMap<string, number>;
}

interface FirstBurst {
  readonly first: Burst;
  readonly second: Burst;
  readonly firstAnswerMs: number;
  /** CPU seconds of the node before the first burst. */
  readonly cpuBefore: number;
}

/** Of each burst: two whole blocks of a fast computer. */
const TRANSACTIONS = 16_000;
const REST_MS = 10_000;
const MINED_WITHIN_MS = 60_000;
const SHOWN_BLOCKS = 8;

/**
 * What the first blocks hold of a burst at full rate, ten seconds after the start of a development network, and the CPU that it
 * takes, beside another burst right after it. The block that is being built when a burst begins has only a part of it, so the next
 * one is the first whole one. On a busy computer the CPU tells more than the blocks.
 */
export async function measureFirstBursts({ rounds, against }: FirstBurstOrder): Promise<void> {
  const programs = against === undefined ? [IBEX] : [against, IBEX];
  const seen = new Map(programs.map((program) => [program, [] as FirstBurst[]]));
  for (let round = 0; round < rounds; round++)
    for (const program of programs) {
      const burst = await burstOn(program);
      seen.get(program)?.push(burst);
      const shown = ({ fill }: Burst): string => fill.slice(0, SHOWN_BLOCKS).join(" ");
      console.log(`${program}: blocks of ${shown(burst.first)}, then of ${shown(burst.second)}`);
    }
  for (const [program, bursts] of seen) tell(program, bursts);
}

function tell(program: string, bursts: readonly FirstBurst[]): void {
  const median = (of: (burst: FirstBurst) => number, digits = 0): string =>
    atQuantile(bursts.map(of), 0.5).toFixed(digits);
  console.log(`\n${program}, medians of ${bursts.length}`);
  console.log(
    `transactions in the first whole block ${median(({ first }) => firstWhole(first))}, of the second burst ` +
      `${median(({ second }) => firstWhole(second))}; the first of these to the largest block of both ` +
      median((burst) => firstWhole(burst.first) / largest(burst), 2),
  );
  console.log(
    `first answer after ${median((burst) => burst.firstAnswerMs)} ms, CPU until the burst ${median((burst) => burst.cpuBefore, 2)} s`,
  );
  const all = ({ cost }: Burst): number => [...cost.values()].reduce((sum, one) => sum + one, 0);
  console.log(
    `CPU of a transaction, µs: first burst ${median(({ first }) => all(first))}, second ${median(({ second }) => all(second))}`,
  );
  for (const thread of bursts[0]?.second.cost.keys() ?? []) {
    const of = (burst: (both: FirstBurst) => Burst): string =>
      median((both) => burst(both).cost.get(thread) ?? 0).padStart(6);
    console.log(`  ${thread.padEnd(20)} ${of(({ first }) => first)} ${of(({ second }) => second)}`);
  }
}

function firstWhole({ fill }: Burst): number {
  return fill[1] ?? 0;
}

function largest({ first, second }: FirstBurst): number {
  return Math.max(...first.fill, ...second.fill);
}

async function burstOn(program: string): Promise<FirstBurst> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-bench-"));
  const threads = mkdtempSync(join(tmpdir(), "ibex-bench-"));
  const nodeOptions = nameThreadsIn(threads);
  const contender = await startProgram(folder, ["--logging=WARN"], undefined, nodeOptions, [], program);
  try {
    return await burstAfterRest(contender, threads);
  } finally {
    await contender.stop();
    for (const path of [folder, threads]) rmSync(path, { recursive: true, force: true });
  }
}

async function burstAfterRest(contender: Contender, threads: string): Promise<FirstBurst> {
  const sinceMs = performance.now();
  const { bodies } = transferWorkload(
    2 * TRANSACTIONS,
    senderAddresses().map(() => 0),
  );
  await pause(Math.max(0, REST_MS - (performance.now() - sinceMs)));
  const { firstAnswerMs } = contender;
  const cpuBefore = contender.cpuSeconds();
  const client = createRpcClient(contender.port, 1);
  const half = TRANSACTIONS / BATCH_SIZE;
  const first = await sendAndWatch(contender, client, bodies.slice(0, half), threads);
  const second = await sendAndWatch(contender, client, bodies.slice(half), threads);
  client.close();
  return { firstAnswerMs, cpuBefore, first, second };
}

/** Sends the bodies, and resolves once all of it is mined. */
async function sendAndWatch(
  { pid, port }: Contender,
  client: RpcClient,
  bodies: readonly Buffer[],
  threads: string,
): Promise<Burst> {
  const cpu = (): ReadonlyMap<string, number> => (pid === undefined ? new Map() : cpuByName(pid, threads));
  const before = cpu();
  const blocks: number[] = [];
  const watch = watchBlocks(client, 20, ({ transactions }) => blocks.push(transactions));
  const limits = { batchSize: BATCH_SIZE, stopAfterMs: MINED_WITHIN_MS, backlogLimit: TRANSACTIONS };
  const report = await sendFromOwnProcess({ port, bodies, ...limits });
  const untilMs = performance.now() + MINED_WITHIN_MS;
  const mined = (): number => blocks.reduce((sum, transactions) => sum + transactions, 0);
  while (mined() < report.sent - report.refused && performance.now() < untilMs) await pause(20);
  await watch.stop();
  const first = blocks.findIndex((transactions) => transactions > 0);
  const last = blocks.findLastIndex((transactions) => transactions > 0);
  const cost = [...cpu()].map(
    ([thread, seconds]) => [thread, ((seconds - (before.get(thread) ?? 0)) * 1e6) / TRANSACTIONS] as const,
  );
  return { fill: blocks.slice(first, last + 1), cost: new Map(cost) };
}
