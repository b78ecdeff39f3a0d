import type { ExecutionObserver, Step } from "../../../src/execution/observer.ts";
import type { Random } from "../../storage/random.ts";
import { chance } from "./draws.ts";
import type { ProgramOutcome, StateTestProgram } from "./stateTestProgram.ts";

/** What is recorded of a run: the gas before and after each of its first instructions. */
export interface GasRecord {
  readonly observer: ExecutionObserver;
  readonly points: readonly GasPoint[];
}

interface GasPoint {
  readonly depth: number;
  readonly before: bigint;
  /** Gas left once the instruction was paid. */
  readonly after: bigint;
}

const MOST_POINTS = 20_000;
/** Limits for a program, and for one of those that are cut off at all their points. */
const FEW = 4;
const ALL = 60;
const THOROUGH_PERCENT = 2;

export function recordGas(): GasRecord {
  const points: GasPoint[] = [];
  const performed = ({ depth, gas, cost }: Step): void => {
    if (points.length < MOST_POINTS) points.push({ depth, before: gas, after: gas - cost });
  };
  const ignored = (): void => {};
  return {
    points,
    observer: { entered: ignored, begun: ignored, performed, resumed: ignored, left: ignored },
  };
}

/**
 * Gas limits with which a program stops at some of its instructions, or just reaches them: one gas too few and just
 * enough, as seen from a run with its own limit. In a nested call the caller kept a 64th of what was there. One without
 * instructions, a transfer or a call of a precompiled contract, gets what it used, and one less.
 */
export function drawGasLimits(
  random: Random,
  { gasLimit: whole, cutOffs = FEW }: StateTestProgram,
  points: readonly GasPoint[],
  outcome: ProgramOutcome,
): readonly bigint[] {
  const limits = new Set<bigint>([whole]);
  const first = points[0];
  if (first === undefined)
    return outcome.refusal === undefined
      ? [...limits.add(outcome.gasUsed).add(outcome.gasUsed - 1n)]
      : [whole];
  if (chance(random, 5)) {
    // The price of the transaction itself.
    limits.add(whole - first.before);
    limits.add(whole - first.before - 1n);
  }
  const wanted = chance(random, THOROUGH_PERCENT) && cutOffs === FEW ? ALL : cutOffs;
  for (let tries = 0; limits.size <= wanted && tries < 2 * wanted; tries++) {
    const { depth, after } = points[random.below(points.length)] ?? first;
    const surplus = BigInt(Math.round(Number(after) * (64 / 63) ** depth));
    const shift = depth === 0 ? -random.below(2) : random.below(7) - 3;
    const limit = whole - surplus + BigInt(shift);
    if (limit > 0n && limit <= whole) limits.add(limit);
  }
  return [...limits];
}
