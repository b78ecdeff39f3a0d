import { precompiledContract } from "../../../src/execution/precompiles/precompiledContracts.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { atOnce } from "../../../src/primitives/steps.ts";
import { generator, type Random } from "../../../test/storage/random.ts";
import type { Draw } from "./draw.ts";
import { buildGoPrecompiles, type GoPrecompiles } from "./goPrecompiles.ts";
import { PRECOMPILES } from "./precompileInputs.ts";

/** How many inputs of each contract are measured in the end, by each of both measures. */
const KEPT = 3;
const SEARCH_MS = 3;
const ROUNDS = 5;
const MEASURED_MS = 40;
const WARM_UP_CALLS = 300;
const WARM_UP_MS = 100;
/** What a block of 30M gas holds of calls to warm addresses. */
const BLOCK_GAS = 30_000_000;
const CALL_GAS = 100;

interface Input {
  readonly number: number;
  readonly name: string;
  readonly data: Uint8Array;
}

interface Times {
  readonly input: Input;
  readonly gas: number;
  readonly oursNs: number;
  readonly goNs: number;
}

/**
 * Searches for inputs of precompiled contracts that take longest beside go-ethereum's functions and longest for their gas,
 * drawn by a seed; the functions alone are measured, without an EVM around them. Each output is compared, and a
 * difference makes the command fail. Without Go nothing is measured, because it also tells what an input costs.
 */
export async function measurePrecompiles(seed: number, seconds: number): Promise<void> {
  const go = buildGoPrecompiles();
  if (go === undefined) {
    console.log("\nno Go is here to build go-ethereum's precompiled contracts");
    return;
  }
  console.log(`\nprecompiled contracts beside go-ethereum's, seed ${seed}`);
  const random = generator(seed);
  const lines: Times[] = [];
  let tried = 0;
  for (const [number, name, draw] of PRECOMPILES) {
    const endMs = performance.now() + seconds * 1000 * shareOf(number);
    const found: Times[] = [];
    while (performance.now() < endMs) {
      found.push(await timesOf(drawn(number, name, draw, random), go, 1, SEARCH_MS));
      tried++;
    }
    for (const { input } of worstOf(found)) lines.push(await timesOf(input, go, ROUNDS, MEASURED_MS));
  }
  go.close();
  console.log(`${tried} inputs tried, all outputs equal`);
  print("by ratio to go-ethereum", lines, ratioOf);
  print("by time for its gas", lines, blockSecondsOf);
}

/** The families of MODEXP are many. */
function shareOf(number: number): number {
  return number === 0x05 ? MODEXP_SHARE : (1 - MODEXP_SHARE) / (PRECOMPILES.length - 1);
}

const MODEXP_SHARE = 0.3;

function drawn(number: number, name: string, draw: Draw, random: Random): Input {
  const [what, data] = draw(random);
  return { number, name: `${name} ${what}`.trim(), data };
}

/** Different inputs with the highest ratio and with the longest time for their gas. */
function worstOf(found: readonly Times[]): readonly Times[] {
  const most = (by: (times: Times) => number): Times[] =>
    distinct(found.toSorted((a, b) => by(b) - by(a))).slice(0, KEPT);
  return distinct([...most(ratioOf), ...most(blockSecondsOf)]);
}

function distinct(times: readonly Times[]): Times[] {
  return [...new Map(times.toReversed().map((each) => [each.input.name, each])).values()].toReversed();
}

const ratioOf = ({ oursNs, goNs }: Times): number => oursNs / goNs;
const blockSecondsOf = ({ gas, oursNs }: Times): number =>
  (oursNs / 1e9) * Math.floor(BLOCK_GAS / (gas + CALL_GAS));

/** The shortest mean time of some rounds, ours and go-ethereum's in turns. */
async function timesOf(
  input: Input,
  go: GoPrecompiles,
  rounds: number,
  milliseconds: number,
): Promise<Times> {
  const { gas, output } = await go.run(input.number, input.data, 0);
  const call = await callerOf(input, gas);
  const result = call();
  const ours = result === undefined ? "refused" : toHex(result);
  if (ours !== output)
    throw new Error(`${input.name}: ${ours} differs from ${output} for ${toHex(input.data)}`);
  const warmMs = performance.now() + WARM_UP_MS;
  for (let calls = 0; calls < WARM_UP_CALLS && performance.now() < warmMs; calls++) call();
  let [oursNs, goNs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round++) {
    oursNs = Math.min(oursNs, meanNs(call, milliseconds));
    goNs = Math.min(goNs, (await go.run(input.number, input.data, milliseconds)).nanoseconds);
  }
  return { input, gas, oursNs, goNs };
}

/** A call with exactly the gas of the input, the most that an attacker gets for the price. */
async function callerOf({ number, data }: Input, gas: number): Promise<() => Uint8Array | undefined> {
  const contract = expectDefined(precompiledContract(number, "prague"), "a precompiled contract");
  await contract.prepare();
  const gasLimit = BigInt(gas);
  return () => {
    const work = contract.run({ data, gasLimit, memoryBudget: undefined });
    const { output, failure } = "next" in work ? atOnce(work) : work;
    return failure === undefined ? output : undefined;
  };
}

function meanNs(call: () => unknown, milliseconds: number): number {
  const begunMs = performance.now();
  let calls = 0;
  let ms = 0;
  // The clock is read less often for short calls.
  for (let batch = 1; ms < milliseconds; batch = ms < milliseconds / 100 ? 2 * batch : batch) {
    for (let each = 0; each < batch; each++) call();
    calls += batch;
    ms = performance.now() - begunMs;
  }
  return (ms * 1e6) / calls;
}

function print(title: string, lines: readonly Times[], by: (times: Times) => number): void {
  console.log(`\n${title}: the two worst inputs of each contract`);
  const heads = ["gas", "µs", "go µs", "ratio", "30 Mgas s"];
  console.log(`${"input".padEnd(64)} ${heads.map((head) => head.padStart(10)).join(" ")}`);
  const shown = new Map<number, number>();
  for (const times of lines.toSorted((a, b) => by(b) - by(a))) {
    const { input, gas, oursNs, goNs } = times;
    const count = (shown.get(input.number) ?? 0) + 1;
    shown.set(input.number, count);
    if (count > 2) continue;
    const figures = [
      `${gas}`,
      (oursNs / 1000).toFixed(2),
      (goNs / 1000).toFixed(2),
      ratioOf(times).toFixed(1),
      blockSecondsOf(times).toFixed(2),
    ];
    console.log(
      `${input.name.slice(0, 64).padEnd(64)} ${figures.map((text) => text.padStart(10)).join(" ")}`,
    );
  }
}
