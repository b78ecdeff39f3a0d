import { useRef } from "preact/hooks";
import { call } from "./connection.ts";
import { type Loaded, useLoaded } from "./hooks.ts";
import { hexOf, type RoundRow, useHeight } from "./recentBlocks.ts";
import { passedOver } from "./validators.ts";

/** A block with its consensus data. */
export interface DecidedBlock {
  readonly number: number;
  readonly hash: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  /** When the node had it, milliseconds since 1970; undefined when unknown. */
  readonly arrivedMs: number | undefined;
  /** Seconds since the previous block, to the millisecond if both arrivals are known; undefined for the first ones. */
  readonly spacing: number | undefined;
  readonly proposer: string;
  readonly round: number;
  /** Validators whose rounds ended without the block, in the order of rounds. */
  readonly lostTurns: readonly string[];
  readonly vote: RoundRow["vote"];
  /** Addresses of the validators that decided the block. */
  readonly validators: readonly string[];
}

/** Number of blocks shown: as many as one answer of ibft_getRounds has. */
const LOOKED_AT = 1_000;
/** Most validator sets to request. Blocks before more changes of the set are left out. */
const MOST_SETS = 20;

/** The newest blocks, the newest first, kept up to date with the head. */
export function useDecidedBlocks(): Loaded<readonly DecidedBlock[]> {
  const height = useHeight();
  const known = useRef<readonly DecidedBlock[]>([]);
  return useLoaded(async () => {
    if (height !== undefined) known.current = await follow(known.current, height);
    return known.current;
  }, [height]);
}

/** The known blocks with those after them up to the newest; loads all again when the chain was rewound, or is far ahead. */
async function follow(known: readonly DecidedBlock[], newest: number): Promise<readonly DecidedBlock[]> {
  const [last] = known;
  const missing = last === undefined ? LOOKED_AT : newest - last.number + 1;
  // A known block shows whether it is still the same chain.
  const count = missing < 1 || missing > LOOKED_AT ? LOOKED_AT : missing;
  const [rows, arrivals] = await Promise.all([
    call<readonly RoundRow[]>("ibft_getRounds", [hexOf(newest), hexOf(count)]),
    arrivalsOf(newest, count),
  ]);
  if (last !== undefined && rows.at(-1)?.hash === last.hash) {
    const added = await decided(rows.slice(0, -1), arrivals, last);
    return [...added, ...known].slice(0, LOOKED_AT);
  }
  return last === undefined || count === LOOKED_AT ? decided(rows, arrivals, undefined) : follow([], newest);
}

/** When the node had these blocks, by hash, because timestamps are whole seconds. Empty when the node does not say. */
async function arrivalsOf(newest: number, count: number): Promise<ReadonlyMap<string, number>> {
  try {
    const arrivals = await call<readonly { readonly hash: string; readonly atMs: string }[]>(
      "explorer_getArrivals",
      [hexOf(newest), hexOf(count)],
    );
    return new Map(arrivals.map(({ hash, atMs }) => [hash, Number(atMs)]));
  } catch {
    return new Map();
  }
}

/** Turns rows, the newest first, into blocks, which come after `before` if it is given. */
async function decided(
  rows: readonly RoundRow[],
  arrivals: ReadonlyMap<string, number>,
  before: DecidedBlock | undefined,
): Promise<readonly DecidedBlock[]> {
  // Nobody proposed the genesis block, and its time is arbitrary.
  const proposed = rows.filter(({ number }) => Number(number) > 0);
  const sets = await setsOf(proposed, before);
  return proposed.slice(0, sets.length).map((row, index) => {
    const validators = sets[index] ?? [];
    const next = proposed[index + 1];
    const parent = next === undefined ? before : parentOf(next, arrivals);
    const timestamp = Number(row.timestamp);
    const arrivedMs = arrivals.get(row.hash);
    const round = Number(row.round);
    return {
      number: Number(row.number),
      hash: row.hash,
      timestamp,
      arrivedMs,
      spacing: parent && secondsBetween(parent, { timestamp, arrivedMs }),
      proposer: row.proposer,
      round,
      lostTurns: lostTurns(Number(row.number), round, validators, parent),
      vote: row.vote,
      validators,
    };
  });
}

/** The validators that lost their turn; the first validator begins after the genesis block. */
function lostTurns(
  number: number,
  round: number,
  validators: readonly string[],
  parent: Pick<DecidedBlock, "proposer"> | undefined,
): readonly string[] {
  if (number === 1) return passedOver(validators, "", round);
  return parent === undefined ? [] : passedOver(validators, parent.proposer, round);
}

function parentOf(
  { proposer, timestamp, hash }: RoundRow,
  arrivals: ReadonlyMap<string, number>,
): Pick<DecidedBlock, "proposer"> & Times {
  return { proposer, timestamp: Number(timestamp), arrivedMs: arrivals.get(hash) };
}

type Times = Pick<DecidedBlock, "timestamp" | "arrivedMs">;

function secondsBetween(parent: Times, block: Times): number {
  return parent.arrivedMs === undefined || block.arrivedMs === undefined
    ? block.timestamp - parent.timestamp
    : Math.max(0, block.arrivedMs - parent.arrivedMs) / 1_000;
}

/**
 * The validators of each row. A block has one vote at most, so its set differs from that of the next block by at most one
 * validator: if the count is the same, so is the set.
 */
async function setsOf(
  rows: readonly RoundRow[],
  before: DecidedBlock | undefined,
): Promise<readonly (readonly string[])[]> {
  if (before !== undefined && rows.every((row) => Number(row.validatorCount) === before.validators.length))
    return rows.map(() => before.validators);
  const asked: Promise<readonly string[]>[] = [];
  const sets: Promise<readonly string[]>[] = [];
  for (const [index, { number, validatorCount }] of rows.entries()) {
    if (rows[index - 1]?.validatorCount !== validatorCount) {
      if (asked.length === MOST_SETS) break;
      asked.push(validatorsOf(number));
    }
    sets.push(...asked.slice(-1));
  }
  return Promise.all(sets);
}

async function validatorsOf(number: string): Promise<readonly string[]> {
  const validators = await call<readonly string[] | null>("ibft_getValidatorsByBlockNumber", [number]);
  return (validators ?? []).toSorted();
}
