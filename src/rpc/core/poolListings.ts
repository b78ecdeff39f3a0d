import type { Address } from "../../primitives/address.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { compareBytes, equalBytes } from "../../primitives/hex.ts";
import { EventLoopPacer } from "../../primitives/pacer.ts";
import { inSteps } from "../../primitives/steps.ts";
import type { PoolEntry } from "../../txpool/entry.ts";
import type { NewestBlock, WaitingTransaction } from "../../txpool/waitingReason.ts";
import { feeCap, type SentTransaction } from "../../types/transaction.ts";
import type { PackedEntries, WaitingItem, WaitingListing, WaitingQuery } from "./core.ts";
import type { RpcPool } from "./coreParts.ts";
import { shortestWithin, shownBytes } from "./listingLimit.ts";
import {
  type PackedListing,
  type PoolListing,
  packTransactionsInSteps,
  type SubPoolListing,
} from "./packedTransactions.ts";
import { type PoolFilter, passesPoolFilter } from "./poolFilter.ts";

/*
 * Listings of the pool, made on the main thread: it decides which transactions a listing shows, and packs these in slices of the
 * event loop. Their JSON text is the business of the caller's thread.
 */

/**
 * A listing of at most so many bytes. Of a larger pool it has pending transactions before queued ones, the shortest first. That of
 * one sender has its transactions alone.
 */
export async function listBySender(
  pool: RpcPool,
  wanted: Address | undefined,
  limitBytes: number,
): Promise<PoolListing> {
  const pacer = new EventLoopPacer();
  const senders = await sendersOf(pool, wanted, pacer);
  const pending = await selectWithin(
    limitBytes,
    senders.map(({ pending }) => pending),
    pacer,
  );
  const queued = await selectWithin(
    Math.max(0, limitBytes - pending.allBytes),
    senders.map(({ queued }) => queued),
    pacer,
  );
  return { pending: pending.listing, queued: queued.listing };
}

/** The first `limit` transactions that pass; "tooLarge" when they, shown with their encodings, may take more than `limitBytes`. */
export async function listMatching(
  pool: Pick<RpcPool, "entries">,
  filter: PoolFilter,
  { limit, limitBytes }: { readonly limit: number; readonly limitBytes: number },
): Promise<PackedListing | "tooLarge"> {
  const pacer = new EventLoopPacer();
  const matching: SentTransaction[] = [];
  let bytes = 0;
  for (const { transaction } of [...pool.entries()]) {
    if (pacer.isDue()) await pacer.yield();
    if (matching.length >= limit) break;
    if (!passesPoolFilter(filter, transaction)) continue;
    matching.push(transaction);
    bytes += shownBytes(transaction) + 2 * transaction.raw.length;
    if (bytes > limitBytes) return "tooLarge";
  }
  return { transactions: await inSteps(packTransactionsInSteps(matching), pacer), shownBytes: bytes };
}

/** "tooMany" when there are more than `limit`. */
export async function listEntries(
  pool: Pick<RpcPool, "entries" | "statistics">,
  limit: number,
): Promise<PackedEntries | "tooMany"> {
  const { pending, queued } = pool.statistics;
  if (pending + queued > limit) return "tooMany";
  const entries = [...pool.entries()];
  const hashes = new Uint8Array(HASH_BYTES * entries.length);
  const areLocal = new Uint8Array(entries.length);
  const addedAtMs = new Float64Array(entries.length);
  const pacer = new EventLoopPacer();
  for (const [index, entry] of entries.entries()) {
    if (pacer.isDue()) await pacer.yield();
    hashes.set(entry.transaction.hash, HASH_BYTES * index);
    areLocal[index] = entry.origin === "local" ? 1 : 0;
    addedAtMs[index] = entry.addedAtMs;
  }
  return { hashes, areLocal, addedAtMs };
}

const HASH_BYTES = 32;

/** A part of the pool in the order of arrival, which takes one look at each entry, and why its transactions wait. */
export async function listWaiting(
  pool: Pick<RpcPool, "entries" | "statistics" | "whyWaiting" | "blockFloors">,
  newest: NewestBlock,
  { order, after, limit }: WaitingQuery,
): Promise<WaitingListing> {
  const pacer = new EventLoopPacer();
  const rankOf = ({ sequence }: PoolEntry): number => (order === "oldest" ? sequence : -sequence);
  const start = after === undefined ? Number.NEGATIVE_INFINITY : order === "oldest" ? after : -after;
  const entries = [...pool.entries()];
  // The pool has them nearly by their arrival. In the order of ranks, few of them move many.
  if (order === "newest") entries.reverse();
  // The first ones by rank, in order.
  const first: PoolEntry[] = [];
  for (const entry of entries) {
    if (pacer.isDue()) await pacer.yield();
    const rank = rankOf(entry);
    const last = first.at(-1);
    if (rank <= start || (first.length > limit && last !== undefined && rank > rankOf(last))) continue;
    first.splice(first.findLastIndex((other) => rankOf(other) < rank) + 1, 0, entry);
    if (first.length > limit + 1) first.pop();
  }
  const shown = first.slice(0, limit);
  const { pending, queued } = pool.statistics;
  return {
    items: shown.flatMap((entry) => {
      const waiting = pool.whyWaiting(entry, newest);
      return waiting === undefined ? [] : [waitingItem(waiting)];
    }),
    next: first.length > limit ? shown.at(-1)?.sequence : undefined,
    pending,
    queued,
    floors: pool.blockFloors,
  };
}

function waitingItem({ entry, ...judgement }: WaitingTransaction): WaitingItem {
  const { transaction, origin, addedAtMs } = entry;
  const { hash, sender, to, nonce, value, gasLimit, data } = transaction;
  return {
    ...judgement,
    hash,
    sender,
    to,
    nonce,
    valueWei: value,
    gasLimit,
    feeCapWei: feeCap(transaction),
    selector: data.slice(0, SELECTOR_BYTES),
    isLocal: origin === "local",
    addedAtMs,
  };
}

const SELECTOR_BYTES = 4;

interface Sender {
  readonly address: Address;
  readonly pending: SentTransaction[];
  readonly queued: SentTransaction[];
}

/** All senders, or the one of that address, sorted by address. */
async function sendersOf(
  pool: RpcPool,
  wanted: Address | undefined,
  pacer: EventLoopPacer,
): Promise<readonly Sender[]> {
  const senders = new Map<string, Sender & { readonly next: bigint }>();
  for (const { transaction } of [...pool.entries()]) {
    if (pacer.isDue()) await pacer.yield();
    const { sender: address, nonce } = transaction;
    if (wanted !== undefined && !equalBytes(address, wanted)) continue;
    const key = toKey(address);
    const sender = senders.get(key) ?? { address, pending: [], queued: [], next: pool.nextNonce(address) };
    senders.set(key, sender);
    (nonce < sender.next ? sender.pending : sender.queued).push(transaction);
  }
  return [...senders.values()].sort((a, b) => compareBytes(a.address, b.address));
}

/** Selects the shortest transactions that fit, and sorts those of each sender by nonce. */
async function selectWithin(
  limitBytes: number,
  bySender: readonly (readonly SentTransaction[])[],
  pacer: EventLoopPacer,
): Promise<{ readonly listing: SubPoolListing; readonly allBytes: number }> {
  let allBytes = 0;
  for (const size of sizesOf(bySender)) allBytes += size;
  const isShown = shortestWithin(limitBytes, sizesOf(bySender));
  const shown: SentTransaction[] = [];
  let omitted = 0;
  let bytes = 0;
  for (const transactions of bySender) {
    for (const transaction of transactions.toSorted((a, b) => (a.nonce < b.nonce ? -1 : 1))) {
      if (pacer.isDue()) await pacer.yield();
      const size = shownBytes(transaction);
      if (isShown(size)) {
        shown.push(transaction);
        bytes += size;
      } else omitted++;
    }
  }
  const transactions = await inSteps(packTransactionsInSteps(shown), pacer);
  return { listing: { transactions, omitted, shownBytes: bytes }, allBytes };
}

function* sizesOf(bySender: readonly (readonly SentTransaction[])[]): Generator<number> {
  for (const transactions of bySender) for (const transaction of transactions) yield shownBytes(transaction);
}
