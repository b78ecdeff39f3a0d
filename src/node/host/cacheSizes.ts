import type { ViewLimits } from "../../chain/view/limits.ts";
import type { HistoryLimits } from "../../state/stateHistory.ts";
import type { WorldStateLimits } from "../../state/worldState.ts";
import type { BlockStoreLimits } from "../../storage/blocks/blockStore.ts";
import { MAPPED_TABLES, OPEN_TABLE_BYTES } from "../../storage/leveldb/levelDatabase.ts";

/** Sizes of all caches of a node, in bytes unless the names of their fields say otherwise. */
export interface CacheSizes {
  /** The chain's database: its blocks of 4 KB. */
  readonly database: number;
  /** What gathers for one table of that database. It takes twice as much: one fills while the other one is written. */
  readonly writeBuffer: number;
  /** Number of tables of that database that are open at the same time. */
  readonly openTables: number;
  /** The index by address: blocks of its database. */
  readonly accountIndex: number;
  /** The thread that makes blocks. */
  readonly state: WorldStateLimits;
  readonly blocks: BlockStoreLimits;
  /** Each thread that reads the chain (readingThreads). */
  readonly view: ViewLimits;
  /** Each thread for calls, state queries and traces. */
  readonly history: HistoryLimits;
}

/**
 * Shares out the memory of a machine or its container, so that a node with full caches takes NODE_SHARE of it. `readingThreads`
 * are those for callers, the explorer's and the one that writes the index by address. The thread that makes blocks comes
 * first: its caches have CHAIN_SHARE of the room, and what the other threads have no use for. No cache is larger than in `whole`,
 * where each part has what it has use for, and none smaller than SMALLEST_SHARE of that, so that a node on very little memory may take more than its share.
 * Open tables, which only a large database has, come last.
 */
export function shareMemory(whole: CacheSizes, memoryBytes: number, readingThreads: number): CacheSizes {
  const roomBytes = memoryBytes * NODE_SHARE - PROGRAM_BYTES;
  const programBytes = readingThreads * THREAD_BYTES;
  const cacheBytes = readingThreads * bytesOfView(whole.view) + JOB_THREADS * bytesOf(whole.history);
  const chainBytes = bytesOfChain({ ...whole, openTables: MAPPED_TABLES });
  const unusedBytes = roomBytes - programBytes - cacheBytes;
  const ofChain = shareOf(Math.max(roomBytes * CHAIN_SHARE, unusedBytes), chainBytes);
  const ofThreads = shareOf(roomBytes - programBytes - ofChain * chainBytes, cacheBytes);
  const sizes = {
    database: Math.floor(whole.database * ofChain),
    writeBuffer: Math.floor(whole.writeBuffer * ofChain),
    openTables: MAPPED_TABLES,
    accountIndex: Math.floor(whole.accountIndex * ofChain),
    state: scaled(whole.state, ofChain),
    blocks: scaled(whole.blocks, ofChain),
    view: {
      state: scaled(whole.view.state, ofThreads),
      blocks: scaled(whole.view.blocks, ofThreads),
    },
    history: scaled(whole.history, ofThreads),
  };
  const leftBytes = Math.max(0, roomBytes - bytesWhenFull(sizes, readingThreads));
  const openTables = Math.min(whole.openTables, MAPPED_TABLES + Math.floor(leftBytes / OPEN_TABLE_BYTES));
  return { ...sizes, openTables };
}

/** What the caches of `sizes` take when they are full, and the node besides. */
export function bytesWhenFull(sizes: CacheSizes, readingThreads: number): number {
  return (
    PROGRAM_BYTES +
    readingThreads * (THREAD_BYTES + bytesOfView(sizes.view)) +
    JOB_THREADS * bytesOf(sizes.history) +
    bytesOfChain(sizes)
  );
}

/** Share of the memory that a node takes: the system, its cache of files and peaks have the rest. */
const NODE_SHARE = 0.4;
/** A third is enough for whole caches from 4 GB on, whatever the number of threads. */
const CHAIN_SHARE = 1 / 3;
/**
 * Memory of a node without its caches, as a run under load showed it: heaps, of which 128 MB for young objects of the
 * thread that makes blocks, what the index by address has not written yet (two times 16 MB), and worker threads.
 */
const PROGRAM_BYTES = 288 * 1024 ** 2;
/** A thread that reads the chain, without its caches: 32 MB are young objects. */
const THREAD_BYTES = 60 * 1024 ** 2;
/** Threads for calls, state queries and traces, of each one for what is short and one for what is long. They start when they are needed. */
const JOB_THREADS = 6;
/** A header with its hash, as its seals are in memory (types/memory.ts). */
const CACHED_HEADER_BYTES = 4096;
const SMALLEST_SHARE = 1 / 8;

/** What the thread that makes blocks caches, and the databases. */
function bytesOfChain(sizes: CacheSizes): number {
  const { database, writeBuffer, openTables, accountIndex, state, blocks } = sizes;
  const tableBytes = Math.max(0, openTables - MAPPED_TABLES) * OPEN_TABLE_BYTES;
  return database + 2 * writeBuffer + tableBytes + accountIndex + bytesOf(state) + bytesOfBlocks(blocks);
}

function shareOf(bytes: number, wantedBytes: number): number {
  return Math.min(1, Math.max(SMALLEST_SHARE, bytes / wantedBytes));
}

function bytesOfView({ state, blocks }: ViewLimits): number {
  return bytesOf(state) + bytesOfBlocks(blocks);
}

function bytesOfBlocks({ headers, blockBytes }: BlockStoreLimits): number {
  return headers * CACHED_HEADER_BYTES + blockBytes;
}

function bytesOf(limits: HistoryLimits | WorldStateLimits): number {
  return Object.values(limits).reduce((sum: number, bytes: number) => sum + bytes, 0);
}

function scaled<Limits extends { readonly [name in keyof Limits]: number }>(
  limits: Limits,
  share: number,
): Limits {
  const entries = Object.entries<number>(limits).map(
    ([name, limit]) => [name, Math.floor(limit * share)] as const,
  );
  return Object.fromEntries(entries) as Limits;
}
