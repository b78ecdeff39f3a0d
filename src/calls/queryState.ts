import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { blockRules } from "../execution/blockRules.ts";
import { MemoryExhausted } from "../execution/memoryBudget.ts";
import { replayStart } from "../execution/replayStart.ts";
import { simulateBlocks } from "../execution/simulation/simulateBlocks.ts";
import type {
  StateQuery,
  StateQueryResult,
  TransactionPosition,
} from "../execution/simulation/stateQuery.ts";
import { HISTORY_CONTRACT } from "../execution/systemCalls.ts";
import type { Address } from "../primitives/address.ts";
import { assertNever } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { asHash, type Hash, keccak256 } from "../primitives/hash.ts";
import { compareBytes, EMPTY_BYTES, equalBytes, joinBytes } from "../primitives/hex.ts";
import { packBytes } from "../primitives/packedBytes.ts";
import type { TimeSlice } from "../primitives/timeSlice.ts";
import { readDump } from "../state/dump/readDump.ts";
import { writeDump } from "../state/dump/writeDump.ts";
import { JournaledOverlay, type Overlay } from "../state/overlay.ts";
import type { ListedSlot, StateHistory } from "../state/stateHistory.ts";
import { readBody } from "../storage/blocks/bodyStore.ts";
import { readHeader } from "../storage/blocks/headerStore.ts";
import type { Database } from "../storage/database.ts";

/** The stores that queries read; a worker has its own. */
export interface StoredStates {
  readonly spec: ChainSpec;
  readonly database: Database;
  readonly history: StateHistory;
  /** The gas cap (--rpc-gas-cap); 0 or absent for none. */
  readonly gasCap?: bigint;
  /** Bounds a query that executes code; absent if it may take its whole time. */
  readonly slice?: TimeSlice | undefined;
}

/** Answers a state query from the states in the database. */
export async function queryState(stored: StoredStates, job: StateQuery): Promise<StateQueryResult> {
  try {
    return await perform(stored, job);
  } catch (error) {
    if (error instanceof MemoryExhausted) return { kind: "tooLarge" };
    throw error;
  }
}

async function perform(stored: StoredStates, job: StateQuery): Promise<StateQueryResult> {
  switch (job.kind) {
    case "account":
      return queryAccount(stored, job);
    case "accounts":
      return queryAccounts(stored, job);
    case "changedAccounts":
      return queryChangedAccounts(stored, job);
    case "slots":
      return querySlots(stored, job);
    case "blocks":
      return queryBlocks(stored, job);
    case "dump":
      return queryDump(stored, job);
    case "readDump":
      return queryReadDump(stored, job);
    default:
      return assertNever(job);
  }
}

type JobOf<Kind extends StateQuery["kind"]> = StateQuery & { readonly kind: Kind };

async function queryAccount(
  stored: StoredStates,
  { at, address }: JobOf<"account">,
): Promise<StateQueryResult> {
  const overlay = await overlayAt(stored, at);
  if (overlay === undefined) return { kind: "stateUnavailable" };
  const account = overlay.account(address);
  return { kind: "account", account: account && { ...account, code: overlay.code(account.codeHash) } };
}

function queryAccounts(
  { history }: StoredStates,
  { blockNumber, from, limit }: JobOf<"accounts">,
): StateQueryResult {
  const all = history.accountsFrom(blockNumber, from);
  if (all === undefined) return { kind: "stateUnavailable" };
  const { items, next } = firstOf(all, limit);
  const accounts = packBytes(items.flatMap(({ hash, address = EMPTY_BYTES }) => [hash, address]));
  return { kind: "accounts", accounts, next };
}

function queryChangedAccounts(
  { history, slice }: StoredStates,
  { from, to, limit }: JobOf<"changedAccounts">,
): StateQueryResult {
  const changed = history.accountsChangedBetween(from, to);
  if (changed === undefined) return { kind: "stateUnavailable" };
  const addresses: Uint8Array[] = [];
  for (const { hash, address } of changed) {
    if (address === undefined) return { kind: "unknownAddress", hash };
    if (addresses.length === limit) return { kind: "tooManyAccounts" };
    addresses.push(address);
    if (slice?.isUsedUp() === true) slice.giveUp();
  }
  return { kind: "changedAccounts", addresses: joinBytes(addresses) };
}

async function queryBlocks(
  { spec, database, history, gasCap = 0n, slice }: StoredStates,
  { blockNumber, request }: JobOf<"blocks">,
): Promise<StateQueryResult> {
  const record = readHeader(database, blockNumber);
  const branch = history.branch(blockNumber);
  if (record === undefined || branch === undefined) return { kind: "stateUnavailable" };
  const ancestorHash = (number: bigint): Hash | undefined => readHeader(database, number)?.hash;
  return simulateBlocks({ spec, header: record.header, branch, ancestorHash, gasCap, slice }, request);
}

async function querySlots(
  stored: StoredStates,
  { at, address, from, limit }: JobOf<"slots">,
): Promise<StateQueryResult> {
  const overlay = await overlayAt(stored, at);
  const before = stored.history.slotsFrom(parentOf(at), address, from);
  if (overlay === undefined || before === undefined) return { kind: "stateUnavailable" };
  const change = overlay.changes().accounts.find((each) => equalBytes(each.address, address));
  const changed = (change?.slots ?? [])
    .map(({ slot, value }) => ({ hash: keccak256(slot), slot: asHash(slot), value }))
    .filter(({ hash }) => compareBytes(hash, from) >= 0)
    .sort((a, b) => compareBytes(a.hash, b.hash));
  const { items, next } = firstOf(merged(change?.storageCleared === true ? [] : before, changed), limit);
  const slots = packBytes(items.flatMap(({ hash, slot = EMPTY_BYTES, value }) => [hash, slot, value]));
  return { kind: "slots", slots, next };
}

/** The contract of past block hashes belongs to its chain: each block writes it. */
const isOfChain = (address: Address): boolean => equalBytes(address, HISTORY_CONTRACT);

function queryDump({ history, slice }: StoredStates, { blockNumber }: JobOf<"dump">): StateQueryResult {
  return writeDump(history, { blockNumber, isLeftOut: isOfChain, slice }) ?? { kind: "stateUnavailable" };
}

function queryReadDump({ slice }: StoredStates, { dump }: JobOf<"readDump">): StateQueryResult {
  return readDump(dump, { isLeftOut: isOfChain, slice });
}

/**
 * The state after the first `at.transactions` transactions of a block, executed on the parent's state; undefined when that
 * is not stored. For genesis, its own state.
 */
async function overlayAt(
  { spec, database, history, slice }: StoredStates,
  at: TransactionPosition,
): Promise<Overlay | undefined> {
  const record = readHeader(database, at.blockNumber);
  const state = history.at(parentOf(at));
  if (record === undefined || state === undefined) return undefined;
  if (at.blockNumber === 0n) return new JournaledOverlay(state);
  const all = readBody(database, record);
  if (all === undefined) return undefined;
  const rules = blockRules(spec, record.header, (number) => readHeader(database, number)?.hash);
  return replayStart(rules, all.slice(0, at.transactions), state, slice);
}

function parentOf({ blockNumber }: TransactionPosition): bigint {
  return blockNumber === 0n ? 0n : blockNumber - 1n;
}

/** Merges two lists sorted by hash: changed slots replace stored ones, and emptied ones are left out. */
function* merged(before: Iterable<ListedSlot>, changed: readonly ListedSlot[]): Generator<ListedSlot, void> {
  const replaced = new Set(changed.map(({ hash }) => toKey(hash)));
  const waiting = [...changed];
  function* takeUntil(hash: Hash | undefined): Generator<ListedSlot, void> {
    while (waiting[0] !== undefined && (hash === undefined || compareBytes(waiting[0].hash, hash) <= 0)) {
      if (waiting[0].value.length > 0) yield waiting[0];
      waiting.shift();
    }
  }
  for (const slot of before) {
    yield* takeUntil(slot.hash);
    if (!replaced.has(toKey(slot.hash))) yield slot;
  }
  yield* takeUntil(undefined);
}

function firstOf<T extends { readonly hash: Hash }>(
  all: Iterable<T>,
  limit: number,
): { readonly items: readonly T[]; readonly next: Hash | undefined } {
  const items: T[] = [];
  for (const item of all) {
    if (items.length === limit) return { items, next: item.hash };
    items.push(item);
  }
  return { items, next: undefined };
}
