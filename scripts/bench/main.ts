/**
 * `npm run bench [-- transfers burst validatorBurst firstBurst token swap stake reads fullBlocks mixed hostile start execution validators logs attacks worst
 * holds blockHolds churn sync propagation mesh disk histories footprint backup access graphQl threads memory overload growth builders] [--seconds=30] [--rate=4000] [--attack=WORD] [--seed=1] [--gas=30000000] [--memory=256] [--peers=1] [--validators=4]
 * [--follower] [--minutes=40] [--machine=2048] [--node=--memory-mb=2048] [--accounts=500000] [--blocks=2000] [--fill=5] [--kept=1024] [--slice=250000] [--tokens] [--folder=PATH] [--rounds=3] [--against=PATH]`: measures this node beside
 * anvil (its executor beside go-ethereum's evm, four validators beside one), one after the other, on the same computer in
 * the same run, and prints ratios. Absolute figures vary between computers. Without a rate the senders send as much as the
 * node accepts; with one, that many transactions per second.
 */
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { measureAccess } from "./access.ts";
import { measureAttacks } from "./attacks/run.ts";
import { measureBackup } from "./backup.ts";
import { measureBlockHolds } from "./blockHolds.ts";
import { measureBuilders } from "./builders/builders.ts";
import { measureBursts, measureValidatorBursts } from "./burst.ts";
import { measureChurn } from "./churn.ts";
import { type Contender, startAnvil, startIbex, startIbexAsValidator } from "./contenders.ts";
import { measureDisk } from "./disk.ts";
import { measureExecution } from "./execution/run.ts";
import { measureFirstBursts } from "./firstBurst.ts";
import { measureFootprint } from "./footprint.ts";
import { measureFullBlocks } from "./fullBlocks.ts";
import { measureGraphQl } from "./graphQl.ts";
import { measureGrowth } from "./growth.ts";
import { measureHistories } from "./histories.ts";
import { measureHostile } from "./hostile.ts";
import { measureLogs } from "./logs.ts";
import { measureMemory } from "./memory/memory.ts";
import { measureMesh } from "./mesh.ts";
import { measureMixed } from "./mixed.ts";
import { measureOverload } from "./overload.ts";
import { measurePropagation } from "./propagation.ts";
import { measureReads } from "./reads.ts";
import { printRatio } from "./report.ts";
import { measureSubscribers } from "./subscribers.ts";
import { measureSync } from "./sync.ts";
import { measureThreads } from "./threads.ts";
import { measureThroughput, type ThroughputResult } from "./throughput.ts";
import { measureValidators } from "./validators.ts";
import { measureHolds } from "./worst/holds.ts";
import { measurePrecompiles } from "./worst/precompileTimes.ts";
import { measureWorst } from "./worst/worst.ts";

const PARTS = [
  "transfers",
  "burst",
  "validatorBurst",
  "firstBurst",
  "token",
  "swap",
  "stake",
  "reads",
  "fullBlocks",
  "mixed",
  "hostile",
  "start",
  "execution",
  "validators",
  "logs",
  "attacks",
  "worst",
  "holds",
  "blockHolds",
  "churn",
  "sync",
  "propagation",
  "mesh",
  "disk",
  "histories",
  "footprint",
  "backup",
  "access",
  "graphQl",
  "threads",
  "subscribers",
  "memory",
  "overload",
  "growth",
  "builders",
] as const;
type Part = (typeof PARTS)[number];

const { values: options, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "30" },
    rate: { type: "string" },
    attack: { type: "string", default: "" },
    seed: { type: "string", default: "1" },
    gas: { type: "string", default: "30000000" },
    memory: { type: "string", default: "256" },
    peers: { type: "string", default: "1" },
    validators: { type: "string" },
    follower: { type: "boolean", default: false },
    minutes: { type: "string", default: "40" },
    machine: { type: "string" },
    node: { type: "string", multiple: true, default: [] },
    chain: { type: "string" },
    accounts: { type: "string" },
    blocks: { type: "string", default: "2000" },
    fill: { type: "string", default: "5" },
    kept: { type: "string", default: "1024" },
    slice: { type: "string", default: "250000" },
    tokens: { type: "boolean", default: false },
    folder: { type: "string" },
    rounds: { type: "string", default: "3" },
    against: { type: "string" },
  },
});
const unknown = asked.find((word) => !PARTS.some((part) => part === word));
if (unknown !== undefined) {
  console.error(`There is no benchmark "${unknown}"; there are: ${PARTS.join(", ")}.`);
  process.exit(2);
}
const seconds = Number(options.seconds);
const rate = options.rate === undefined ? undefined : Number(options.rate);
/** Run only by name: the chain for log queries alone takes minutes to write, and attacks take long. */
const ON_REQUEST: ReadonlySet<Part> = new Set([
  "firstBurst",
  "fullBlocks",
  "logs",
  "attacks",
  "worst",
  "holds",
  "blockHolds",
  "churn",
  "sync",
  "propagation",
  "mesh",
  "disk",
  "histories",
  "footprint",
  "backup",
  "access",
  "graphQl",
  "threads",
  "subscribers",
  "memory",
  "overload",
  "growth",
  "builders",
]);
const parts = PARTS.filter((part) => (asked.length === 0 ? !ON_REQUEST.has(part) : asked.includes(part)));

/** More than either node can process, so that the sender never runs out. */
const SIGNED_PER_SECOND = { transfers: 14_000, token: 9000, swap: 5000, stake: 7000 };
/** Of each of forty measurements per node. */
const SECONDS_OF_READS = 1.2;

const measurements: Readonly<Record<Part, () => Promise<void>>> = {
  transfers: () => throughput("transfers"),
  burst: () => measureBursts(seconds),
  validatorBurst: () => measureValidatorBursts(seconds),
  firstBurst: () => measureFirstBursts({ rounds: Number(options.rounds), against: options.against }),
  token: () => throughput("token"),
  swap: () => throughput("swap"),
  stake: () => throughput("stake"),
  reads,
  fullBlocks: () => measureFullBlocks(Math.min(seconds, 10), options.chain),
  mixed,
  hostile,
  start,
  execution: () => measureExecution(Math.min(seconds, 3)),
  validators: () => measureValidators({ seconds, rate }),
  logs: measureLogs,
  worst: async () => {
    await measurePrecompiles(Number(options.seed), seconds);
    await measureWorst({ seed: Number(options.seed), seconds, gas: Number(options.gas) });
  },
  holds: () => measureHolds(Number(options.memory)),
  blockHolds: measureBlockHolds,
  churn: () => measureChurn(seconds, rate ?? 50),
  sync: () => measureSync(Number(options.peers)),
  propagation: () => measurePropagation(seconds, rate ?? 200),
  mesh: measureMesh,
  disk: async () => {
    await histories();
    await measureDisk();
  },
  histories,
  footprint: () => measureFootprint(Number(options.validators ?? 4), seconds, rate ?? 100),
  backup: () => measureBackup(seconds, rate ?? 2000),
  access: async () => {
    for (const threads of [1, 2]) await measureAccess(seconds, threads);
  },
  graphQl: () => measureGraphQl(seconds),
  threads: () => measureThreads(Math.min(seconds, 3)),
  subscribers: measureSubscribers,
  overload: () => measureOverload(seconds),
  memory: () =>
    measureMemory({
      minutes: Number(options.minutes),
      perSecond: rate ?? 200,
      machineMb: options.machine === undefined ? undefined : Number(options.machine),
      validators: Number(options.validators ?? 1),
      hasFollower: options.follower,
      nodeOptions: options.node,
    }),
  growth: () =>
    measureGrowth({
      accounts: Number(options.accounts ?? 500_000),
      slice: Number(options.slice),
      hasTokens: options.tokens,
      folder: options.folder,
      nodeOptions: options.node,
      secondsOfReads: Math.min(seconds, 5),
    }),
  builders: () => measureBuilders(Number(options.rounds)),
  attacks: () =>
    measureAttacks(seconds, { wanted: options.attack, attackedOf: Number(options.validators ?? 1) }),
};
for (const part of parts) await measurements[part]();

async function histories(): Promise<void> {
  await measureHistories({
    accounts: Number(options.accounts ?? 10_000),
    blocks: Number(options.blocks),
    perBlock: Number(options.fill),
    keptBlocks: Number(options.kept),
  });
}

async function throughput(kind: keyof typeof SIGNED_PER_SECOND): Promise<void> {
  const measure = (contender: Contender): Promise<ThroughputResult> =>
    measureThroughput(contender, kind, seconds, SIGNED_PER_SECOND[kind], rate);
  const ours = await withNode(startIbexAsValidator, measure);
  const theirs = await withNode(startAnvil, measure);
  const pressure = rate === undefined ? "as many as are accepted" : `${rate} per second`;
  console.log(`\n${ours.workload}, ${seconds} s of sending ${pressure}, all processes on this computer`);
  printRatio("transactions per second", "tx/s", ours.perSecond, theirs.perSecond);
  printRatio("block spacing, median", "s", ours.spacingP50, theirs.spacingP50);
  printRatio("block spacing, p95", "s", ours.spacingP95, theirs.spacingP95);
  printRatio("resident memory at the end", "MB", ours.residentMb, theirs.residentMb);
  printRatio("node's CPU per transaction", "µs", microseconds(ours), microseconds(theirs));
  console.log(`ibex, transactions in each block: ${ours.fill.join(" ")}`);
}

function microseconds(result: ThroughputResult): number {
  return (result.nodeCpuSeconds * 1e6) / result.transactions;
}

async function reads(): Promise<void> {
  const measure = (contender: Contender) => measureReads(contender, Math.min(seconds, SECONDS_OF_READS));
  const ours = await withNode(() => startIbex(), measure);
  const theirs = await withNode(startAnvil, measure);
  for (const [index, result] of ours.entries()) {
    const peer = theirs[index];
    if (peer === undefined) continue;
    const { transport, batch, method } = result;
    const what = batch === 1 ? `${transport} ${method}` : `${transport} ${method} x${batch}`;
    printRatio(what, "req/s", result.perSecond, peer.perSecond);
    printRatio("  p99 latency", "ms", result.p99Ms, peer.p99Ms);
    printRatio("  node's CPU per request", "µs", result.cpuMicroseconds, peer.cpuMicroseconds);
  }
}

async function mixed(): Promise<void> {
  const measure = (contender: Contender) => measureMixed(contender, Math.min(seconds, 20));
  const ours = await withNode(() => startIbex(), measure);
  const theirs = await withNode(startAnvil, measure);
  console.log("\nthe ten reads mixed, 300 a second over 32 connections, and 2,000 transfers a second");
  printRatio("p50 latency", "ms", ours.p50Ms, theirs.p50Ms);
  printRatio("p99 latency", "ms", ours.p99Ms, theirs.p99Ms);
  printRatio("transfers sent meanwhile", "tx/s", ours.sentPerSecond, theirs.sentPerSecond);
}

async function hostile(): Promise<void> {
  const { periodP50, periodP95, periodMax, blocks, answered } = await measureHostile(seconds);
  console.log(`\nblocks of one second under the heaviest calls over 8 connections, ${blocks} blocks`);
  console.log(`p50 ${periodP50.toFixed(2)} s, p95 ${periodP95.toFixed(2)} s, max ${periodMax.toFixed(2)} s`);
  for (const [name, times] of answered) console.log(`  ${name}: answered ${times} times`);
}

async function start(): Promise<void> {
  const fresh = await startIbex();
  const folder = fresh.dataPath;
  const freshMs = fresh.firstAnswerMs;
  await idle();
  await fresh.stop();
  const again = await startIbex(folder);
  await idle();
  const idleMb = again.residentMb();
  await again.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  const anvil = await startAnvil();
  await idle();
  const anvilMb = anvil.residentMb();
  await anvil.stop();
  console.log("\nstart and rest");
  printRatio("first answer, fresh folder", "ms", freshMs, anvil.firstAnswerMs);
  printRatio("first answer, existing folder", "ms", again.firstAnswerMs, anvil.firstAnswerMs);
  printRatio("resident memory when idle", "MB", idleMb, anvilMb);
}

async function idle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5000));
}

async function withNode<T>(
  startNode: () => Promise<Contender>,
  measure: (contender: Contender) => Promise<T>,
): Promise<T> {
  const contender = await startNode();
  try {
    return await measure(contender);
  } finally {
    await contender.stop();
  }
}
