import { startIbex } from "./contenders.ts";
import { type LoggedBlock, startValidators, type ValidatorProcesses } from "./network.ts";
import { atQuantile, printBeside } from "./report.ts";
import { measureThroughput, type ThroughputResult } from "./throughput.ts";
import type { WorkloadKind } from "./workload.ts";

/**
 * Four validators and the sender on one computer: their throughput beside that of one validator, their block spacing, and
 * the cost of consensus when idle.
 */
export interface ValidatorsOrder {
  readonly seconds: number;
  /** Transactions per second; when absent, first a moderate rate, then as many as are accepted. */
  readonly rate: number | undefined;
}

const VALIDATORS = 4;
type Kind = Extract<WorkloadKind, "transfers" | "token">;
const KINDS: readonly Kind[] = ["transfers", "token"];
const GENTLE_RATE = 1000;
const IDLE_SECONDS = 30;
/** The first load of a kind runs uncompiled code, so it is reported separately. */
const WARM_UP_SECONDS = 8;
/** More than they can process. */
const SIGNED_PER_SECOND: Readonly<Record<Kind, number>> = { transfers: 6000, token: 3000 };
const SIGNED_ALONE_PER_SECOND: Readonly<Record<Kind, number>> = { transfers: 14_000, token: 9000 };

export async function measureValidators({ seconds, rate }: ValidatorsOrder): Promise<void> {
  const alone = new Map<Kind, ThroughputResult>();
  if (rate === undefined) for (const kind of KINDS) alone.set(kind, await measureAlone(kind, seconds));
  const network = await startValidators(VALIDATORS);
  try {
    await measureIdle(network, Math.min(IDLE_SECONDS, seconds));
    for (const kind of KINDS) {
      await warmUp(network, kind);
      for (const offered of rate === undefined ? [GENTLE_RATE, undefined] : [rate])
        await measureLoad(network, kind, { seconds, rate: offered, alone: alone.get(kind)?.perSecond });
    }
  } finally {
    await network.stop();
  }
}

async function measureIdle(network: ValidatorProcesses, seconds: number): Promise<void> {
  const since = Date.now();
  await new Promise((done) => setTimeout(done, seconds * 1000));
  const tookMs = network.nodes.flatMap((_, node) =>
    network
      .blocks(node)
      .flatMap(({ atMs, tookMs: took }) => (atMs > since && took !== undefined ? [took] : [])),
  );
  console.log(`\n${VALIDATORS} validators, idle for ${seconds} s`);
  console.log(
    `from block timer to commit, each block at each validator: median ${atQuantile(tookMs, 0.5)} ms, ` +
      `p99 ${atQuantile(tookMs, 0.99)} ms, longest ${Math.max(...tookMs)} ms of ${tookMs.length}`,
  );
  printSpacing(network.blocks(0).filter(({ atMs }) => atMs > since));
  console.log(`resident memory: ${network.nodes.map((node) => Math.round(node.residentMb())).join(" ")} MB`);
}

async function warmUp(network: ValidatorProcesses, kind: Kind): Promise<void> {
  const [first] = network.nodes;
  if (first === undefined) throw new Error("no validator");
  const since = Date.now();
  const { workload } = await measureThroughput(first, kind, WARM_UP_SECONDS, SIGNED_PER_SECOND[kind] / 2);
  console.log(
    `\n${VALIDATORS} validators, their first ${workload}, ${WARM_UP_SECONDS} s of sending as many as are accepted to one`,
  );
  printSpacing(network.blocks(0).filter(({ atMs }) => atMs > since));
}

async function measureLoad(
  network: ValidatorProcesses,
  kind: Kind,
  { seconds, rate, alone }: ValidatorsOrder & { readonly alone: number | undefined },
): Promise<void> {
  const [first] = network.nodes;
  if (first === undefined) throw new Error("no validator");
  const since = Date.now();
  const cpuBefore = network.nodes.map((node) => node.cpuSeconds());
  const together = await measureThroughput(first, kind, seconds, SIGNED_PER_SECOND[kind], rate);
  const cpu = network.nodes.map((node, index) => node.cpuSeconds() - (cpuBefore[index] ?? 0));
  const blocks = network.blocks(0).filter(({ atMs }) => atMs > since);
  const pressure = rate === undefined ? "as many as are accepted" : `${rate} per second`;
  console.log(`\n${VALIDATORS} validators, ${together.workload}, ${seconds} s of sending ${pressure} to one`);
  printBeside("transactions per second", "tx/s", together.perSecond, "alone", alone);
  printSpacing(blocks);
  console.log(`transactions in each block: ${together.fill.join(" ")}`);
  const each = cpu.map((used) => Math.round((used * 1e6) / together.transactions));
  console.log(`CPU per transaction, each validator: ${each.join(" ")} µs`);
  console.log(`resident memory: ${network.nodes.map((node) => Math.round(node.residentMb())).join(" ")} MB`);
}

function printSpacing(blocks: readonly LoggedBlock[]): void {
  const spacing = blocks
    .slice(1)
    .flatMap(({ round, atMs }, index) => (round === 0 ? [(atMs - (blocks[index]?.atMs ?? 0)) / 1000] : []));
  const figures = [0.5, 0.95, 0.99].map((quantile) => atQuantile(spacing, quantile).toFixed(2));
  console.log(
    `spacing of blocks of round 0: p50 ${figures[0]} s, p95 ${figures[1]} s, p99 ${figures[2]} s, ` +
      `longest ${Math.max(...spacing).toFixed(2)} s of ${spacing.length}; ` +
      `of later rounds: ${blocks.filter(({ round }) => round > 0).length}`,
  );
}

async function measureAlone(kind: Kind, seconds: number): Promise<ThroughputResult> {
  const contender = await startIbex();
  try {
    return await measureThroughput(contender, kind, seconds, SIGNED_ALONE_PER_SECOND[kind]);
  } finally {
    await contender.stop();
  }
}
