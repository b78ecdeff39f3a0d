import { existsSync, openSync, readSync } from "node:fs";
import type { ForkName } from "../../../src/chainspec/forks.ts";
import { BlockSession } from "../../../src/execution/blockSession.ts";
import { createYieldPolicy, type YieldPolicy } from "../../../src/execution/yieldPolicy.ts";
import { bytesToBigint } from "../../../src/primitives/quantity.ts";
import { JournaledOverlay } from "../../../src/state/overlay.ts";
import { EMPTY_ACCOUNT } from "../../../src/types/account.ts";
import { EMPTY_STATE, theRules } from "../../../test/execution/context.ts";
import { code, OP, push } from "./assembly.ts";
import { addressOf, SENDER, TARGET } from "./stage.ts";

const MEGABYTE = 1024 * 1024;
/** The gas limit of some chains: effectively none. */
const GAS = 2 ** 53 - 1;
/** Returns as many zeros as there are bytes of call data, or reverts with them. */
const RETURNING = 0xca11_01n;
const REVERTING = 0xca11_02n;

interface Holds {
  readonly ms: number;
  /** The longest time between two checks of the yield policy. */
  readonly stepMs: number;
  /** The longest time without a yield. */
  readonly holdMs: number;
}

/**
 * How long single instructions block the thread with this many megabytes of memory, in its processor time: median and longest
 * of some runs.
 */
export async function measureHolds(megabytes: number): Promise<void> {
  console.log(`\nsteps and blocking of the thread, instructions with ${megabytes} MB`);
  printLine("instruction", ["all ms", "max", "step ms", "max", "hold ms", "max"]);
  for (const [name, instructions] of casesOf(megabytes * MEGABYTE)) {
    const fork = name.startsWith("CREATE") ? "london" : "cancun";
    const runs: Holds[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await holdsOf(instructions, fork));
    const [ms, stepMs, holdMs] = [
      runs.map((run) => run.ms),
      runs.map((run) => run.stepMs),
      runs.map((run) => run.holdMs),
    ];
    printLine(name, [ms, stepMs, holdMs].flatMap(medianAndMost));
  }
}

function medianAndMost(figures: readonly number[]): string[] {
  const sorted = figures.toSorted((a, b) => a - b);
  return [sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0].map((figure) => figure.toFixed(1));
}

function printLine(name: string, columns: readonly string[]): void {
  console.log(`${name.padEnd(36)} ${columns.map((column) => column.padStart(9)).join(" ")}`);
}

const RUNS = 5;
/** On a chain without a limit of code; a creation that costs more than 2^32 gas fails. */
const LONG_CODE_BYTES = 16 * MEGABYTE;

function casesOf(size: number): readonly (readonly [string, Uint8Array])[] {
  const zero = code(0x60, 0);
  /** Touches each page of the memory, by CALLDATACOPY from beyond the data. */
  const fill = code(push(size), OP.PUSH0, OP.PUSH0, OP.CALLDATACOPY);
  const call = (address: bigint, outputSize: number | bigint): Uint8Array =>
    code(push(outputSize), OP.PUSH0, push(size), OP.PUSH0, OP.PUSH0, push(address), OP.GAS, OP.CALL, OP.POP);
  /** Init code that returns zeros. It is stored at the end of the first word of memory. */
  const longCode = code(push(LONG_CODE_BYTES), zero, OP.RETURN);
  const longCodeAt = push(32 - longCode.length);
  const storeLongCode = code(push(bytesToBigint(longCode)), zero, OP.MSTORE);
  const precompile = (number: number): readonly [string, Uint8Array] => [
    `precompiled contract ${number}`,
    code(fill, call(BigInt(number), 32)),
  ];
  return [
    ["warming up", code(push(size), OP.PUSH0, OP.KECCAK256)],
    ["KECCAK256", code(push(size), OP.PUSH0, OP.KECCAK256)],
    ["KECCAK256 of filled memory", code(fill, push(size), OP.PUSH0, OP.KECCAK256)],
    ["CALLDATACOPY", fill],
    ["CODECOPY", code(push(size), OP.PUSH0, OP.PUSH0, OP.CODECOPY)],
    ["EXTCODECOPY", code(push(size), OP.PUSH0, OP.PUSH0, OP.ADDRESS, OP.EXTCODECOPY)],
    ["MCOPY", code(push(size), OP.PUSH0, push(32), OP.MCOPY)],
    ["MLOAD that grows", code(push(size / 2 - 64), OP.MLOAD, push(size - 64), OP.MLOAD)],
    ["MSTORE that grows", code(push(1), push(size / 2 - 64), OP.MSTORE, push(1), push(size - 64), OP.MSTORE)],
    [
      "MSTORE that grows filled memory",
      code(push(size / 2), OP.PUSH0, OP.PUSH0, OP.CALLDATACOPY, push(1), push(size - 64), OP.MSTORE),
    ],
    ["LOG0", code(push(size), OP.PUSH0, OP.LOG0)],
    ["LOG0 of filled memory", code(fill, push(size), OP.PUSH0, OP.LOG0)],
    ["RETURN", code(push(size), OP.PUSH0, OP.RETURN)],
    ["RETURN of filled memory", code(fill, push(size), OP.PUSH0, OP.RETURN)],
    ["REVERT of filled memory", code(fill, push(size), OP.PUSH0, OP.REVERT)],
    ["CALL that returns", call(RETURNING, 0)],
    ["CALL that returns into memory", call(RETURNING, size)],
    ["CALL that reverts", call(REVERTING, 0)],
    ["RETURNDATACOPY", code(call(RETURNING, 0), push(size), OP.PUSH0, OP.PUSH0, OP.RETURNDATACOPY)],
    ["two CALLs that return", code(call(RETURNING, 0), call(RETURNING, 0))],
    // Before Shanghai init code has no size limit.
    ["CREATE", code(push(size), zero, zero, OP.CREATE)],
    ["CREATE2", code(zero, push(size), zero, zero, OP.CREATE2)],
    [
      "CREATE2 of filled memory",
      code(push(size), zero, zero, OP.CALLDATACOPY, zero, push(size), zero, zero, OP.CREATE2),
    ],
    ["CREATE of 16 MB of code", code(storeLongCode, push(longCode.length), longCodeAt, zero, OP.CREATE)],
    // Curve operations are left out, because their input is bounded.
    ...[1, 2, 3, 4, 5, 9].map(precompile),
    ["IDENTITY into memory", code(fill, call(4n, size))],
  ];
}

async function holdsOf(instructions: Uint8Array, fork: ForkName): Promise<Holds> {
  const overlay = new JournaledOverlay(EMPTY_STATE);
  overlay.putAccount(SENDER, { ...EMPTY_ACCOUNT, balance: 10n ** 24n });
  const data = code(OP.CALLDATASIZE, OP.PUSH0);
  for (const [address, bytes] of [
    [TARGET, instructions],
    [RETURNING, code(data, OP.RETURN)],
    [REVERTING, code(data, OP.REVERT)],
  ] as const) {
    overlay.putAccount(addressOf(address), { ...EMPTY_ACCOUNT, nonce: 1n });
    overlay.putCode(addressOf(address), bytes);
  }
  overlay.beginTransaction();
  const watch = createWatch();
  const rules = theRules(fork, { gasLimit: BigInt(GAS) });
  const session = new BlockSession({
    ...rules,
    config: { ...rules.config, contractSizeLimitBytes: LONG_CODE_BYTES },
    overlay,
    yieldPolicy: watch.pace,
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  watch.begin();
  const begunMs = nowMs();
  await session.evm.run({
    caller: SENDER,
    to: addressOf(TARGET),
    value: 0n,
    data: new Uint8Array(0),
    gasLimit: BigInt(GAS),
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
  const ms = nowMs() - begunMs;
  watch.look();
  await new Promise((resolve) => setImmediate(resolve));
  return { ms, ...watch.end() };
}

/**
 * Processor time of this thread in milliseconds, which other work on the machine does not lengthen; Linux counts it in ticks
 * of some milliseconds. Elsewhere, the time that passes.
 */
const nowMs = threadTime();

function threadTime(): () => number {
  const path = "/proc/thread-self/schedstat";
  if (!existsSync(path)) return () => performance.now();
  const file = openSync(path, "r");
  const text = Buffer.alloc(64);
  return () => Number.parseInt(text.toString("latin1", 0, readSync(file, text, 0, text.length, 0)), 10) / 1e6;
}

/** The yield policy of blocks, which also records the times between checks and between yields. */
function createWatch() {
  const inner = createYieldPolicy({ nowMs });
  let askedMs = 0;
  let turnMs = 0;
  let stepMs = 0;
  let holdMs = 0;
  const look = (): void => {
    const atMs = nowMs();
    stepMs = Math.max(stepMs, atMs - askedMs);
    askedMs = atMs;
  };
  const yielded = (): void => {
    const atMs = nowMs();
    holdMs = Math.max(holdMs, atMs - turnMs);
    turnMs = atMs;
  };
  const pace: YieldPolicy = {
    isDue() {
      look();
      return inner.isDue();
    },
    async yield() {
      look();
      yielded();
      await inner.yield();
      turnMs = nowMs();
      askedMs = turnMs;
    },
  };
  return {
    pace,
    look,
    begin() {
      askedMs = nowMs();
      turnMs = askedMs;
    },
    end() {
      yielded();
      return { stepMs, holdMs };
    },
  };
}
