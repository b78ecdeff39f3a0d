import type { ChainReader } from "../chain/chainReader.ts";
import { type Address, asAddress } from "../primitives/address.ts";
import { equalBytes } from "../primitives/hex.ts";
import { remembered } from "../primitives/remembered.ts";
import type { DatabaseOnDisk, DatabaseSnapshot } from "../storage/database.ts";
import { bytesInFolder } from "../storage/folderBytes.ts";
import { commonBlock } from "./commonBlock.ts";
import {
  type Asset,
  decodeIndexValue,
  END_OF_CHAIN,
  type Pair,
  type Place,
  type Placed,
  pairInKey,
  pairRange,
  placedRange,
  placeInKey,
  readStatus,
  restOfPairKey,
  START_OF_CHAIN,
  type Subject,
  valueIn,
} from "./layout.ts";
import {
  type DayCounts,
  dayIn,
  dayInKey,
  dayRange,
  readStatistics,
  type StatisticsStatus,
  TOKENS,
  type TokenCounts,
  tokenIn,
  tokenInKey,
} from "./statisticsLayout.ts";
import { UnusableIndex } from "./unusableIndex.ts";

/** The index as of one state of the chain. */
export interface IndexView {
  /** First block that it covers, and the last one; undefined when it covers none. */
  readonly first: number;
  readonly last: number | undefined;
  /** Entries of blocks that it covers, from the place `from` up to before `until`, in either order. */
  placed(kind: Placed, subject: Subject, range?: PlacedQuery): AsyncIterable<FoundPlace>;
  /**
   * The next assets of an account, or accounts of a token or of one of its ids. A call may find few or none and still return
   * where to continue: entries whose blocks were dropped are scanned as well, up to a bound.
   */
  pairs(kind: Pair, subject: Subject, query: PairQuery): Promise<FoundPairs>;
  /** The blocks that the statistics count (statistics.ts); undefined while they count none of this chain. */
  readonly counted: Pick<StatisticsStatus, "first" | "next"> | undefined;
  /** The newest days up to this one, the newest first, at most so many; days without a block have none. */
  days(newest: number, limit: number): Promise<readonly CountedDay[]>;
  /** The tokens in the order of their addresses, at most so many. */
  tokens(limit: number): AsyncIterable<CountedToken>;
}

/** The counts of a day, which is a number of days since 1970. */
export interface CountedDay extends DayCounts {
  readonly day: number;
}

export interface CountedToken extends TokenCounts {
  readonly token: Address;
}

interface PairQuery {
  /** The `rest` of the pair after which the answer begins; undefined for the first ones. */
  readonly after: Uint8Array | undefined;
  /** Most pairs to return. */
  readonly limit: number;
}

interface FoundPairs {
  readonly found: readonly FoundPair[];
  /** The `after` of the next query; undefined when there are no more. */
  readonly next: Uint8Array | undefined;
}

export interface PlacedQuery {
  readonly from?: Place;
  readonly until?: Place;
  readonly order?: "newest" | "oldest";
  /** Most entries to fetch. */
  readonly limit?: number;
}

export interface FoundPlace extends Place {
  readonly value: Uint8Array;
}

export interface FoundPair {
  readonly account: Address;
  readonly asset: Asset;
  /** The key that identifies it in a list: 21 or 53 bytes. */
  readonly rest: Uint8Array;
}

/** Reads the index on any thread. */
export interface AccountIndexReader {
  /**
   * Calls `use` with a view of the index for the chain as `chain` shows it: blocks that a rewind removed are left out, even
   * before the index has noticed. The view is valid until the promise of `use` settles.
   */
  read<T>(
    chain: Pick<ChainReader, "headerByNumber" | "head" | "historyStart">,
    use: (view: IndexView) => Promise<T>,
  ): Promise<T>;
  /** Closes the database if it was opened. */
  close(): Promise<void>;
  /** Bytes on disk, at most half a minute old: a large index has thousands of files. */
  bytes(): Promise<number>;
  /** Size above which the oldest blocks are removed; 0 for no limit. */
  readonly maxBytes: number;
}

/**
 * A reader of the index in a folder. `open` opens its database at the first read, and again when that failed. `report` is
 * called with an unreadable entry: the writer of the index may never read it (indexer.ts).
 */
export function createIndexReader(
  open: () => Promise<DatabaseOnDisk>,
  { path: folder, maxBytes }: { readonly path: string; readonly maxBytes: number },
  report: (damage: string) => void,
): AccountIndexReader {
  let opening: Promise<DatabaseOnDisk> | undefined;
  const database = (): Promise<DatabaseOnDisk> => {
    opening ??= open().catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    maxBytes,
    close: async () => (await opening?.catch(() => undefined))?.close(),
    bytes: remembered(() => bytesInFolder(folder), MEASURE_MS),
    async read(chain, use) {
      const snapshot = (await database()).snapshot();
      try {
        return await use(await viewOf(snapshot, chain));
      } catch (error) {
        if (error instanceof UnusableIndex) report(error.what);
        throw error;
      } finally {
        snapshot.close();
      }
    },
  };
}

/** The newest entry of a kind below an address. */
export async function newestPlace(
  view: IndexView,
  kind: Placed,
  address: Address,
): Promise<FoundPlace | undefined> {
  for await (const place of view.placed(kind, address, { order: "newest", limit: 1 })) return place;
  return undefined;
}

/** The index of the transaction, from the value of a transfer. */
export function transactionIndexOf({ value }: FoundPlace): number {
  return decodeIndexValue(value);
}

/** The creator of a contract, from the value of its creation. */
export function creatorOf({ value }: FoundPlace): Address {
  return asAddress(value.slice());
}

async function viewOf(
  snapshot: DatabaseSnapshot,
  chain: Pick<ChainReader, "headerByNumber" | "head" | "historyStart">,
): Promise<IndexView> {
  const status = readStatus(snapshot);
  // Entries of blocks that the chain has removed lead nowhere, even before the index forgets them.
  const first = Math.max(status?.first ?? 0, Number(chain.historyStart.blocks));
  const newest =
    status === undefined || status.next <= first
      ? undefined
      : await commonBlock(snapshot, chain, status.next - 1);
  const last = newest === undefined || newest < first ? undefined : newest;
  const counted = countedOf(snapshot, chain);
  return {
    first,
    last,
    async *placed(
      kind,
      subject,
      { from = START_OF_CHAIN, until = END_OF_CHAIN, order = "oldest", limit } = {},
    ) {
      if (last === undefined) return;
      const covered = {
        from: later(from, { block: first, position: 0 }),
        until: earlier(until, after(last)),
      };
      if (!isBefore(covered.from, covered.until)) return;
      const range = {
        ...placedRange(kind, subject, covered),
        reverse: order === "newest",
        ...(limit !== undefined && { limit }),
      };
      for await (const [key, sealed] of snapshot.range(range))
        yield { ...placeInKey(key), value: valueIn(key, sealed) };
    },
    counted,
    async days(newest, limit) {
      const found: CountedDay[] = [];
      if (counted === undefined) return found;
      const range = { ...dayRange(0, newest + 1), reverse: true, limit };
      for await (const [key, sealed] of snapshot.range(range))
        found.push({ day: dayInKey(key), ...dayIn(key, sealed) });
      return found;
    },
    async *tokens(limit) {
      if (counted === undefined) return;
      for await (const [key, sealed] of snapshot.range({ ...TOKENS, limit }))
        yield { token: tokenInKey(key), ...tokenIn(key, sealed) };
    },
    async pairs(kind, subject, query) {
      return last === undefined ? NO_PAIRS : pairsOf(snapshot, kind, subject, { first, ...query });
    },
  };
}

/** The status of the statistics, unless they count blocks of another chain. */
function countedOf(
  snapshot: DatabaseSnapshot,
  chain: Pick<ChainReader, "headerByNumber">,
): StatisticsStatus | undefined {
  const status = readStatistics(snapshot);
  if (status === undefined || status.isStale || status.next === status.first) return undefined;
  const header = chain.headerByNumber(BigInt(status.next - 1));
  return header !== undefined && equalBytes(header.hash, status.hash) ? status : undefined;
}

async function pairsOf(
  snapshot: DatabaseSnapshot,
  kind: Pair,
  subject: Subject,
  { first, after, limit }: PairQuery & Pick<IndexView, "first">,
): Promise<FoundPairs> {
  const found: FoundPair[] = [];
  let lookedAt = 0;
  let next: Uint8Array | undefined;
  const range = { ...pairRange(kind, subject, after), limit: MAX_PAIRS_LOOKED_AT + 1 };
  for await (const [key, sealed] of snapshot.range(range)) {
    if (found.length === limit || lookedAt === MAX_PAIRS_LOOKED_AT) return { found, next };
    lookedAt++;
    next = restOfPairKey(kind, key);
    if (decodeIndexValue(valueIn(key, sealed)) >= first) found.push({ ...pairInKey(kind, key), rest: next });
  }
  return { found, next: undefined };
}

function after(block: number): Place {
  return { block: block + 1, position: 0 };
}

function isBefore(one: Place, other: Place): boolean {
  return one.block < other.block || (one.block === other.block && one.position < other.position);
}

function later(one: Place, other: Place): Place {
  return isBefore(one, other) ? other : one;
}

function earlier(one: Place, other: Place): Place {
  return isBefore(one, other) ? one : other;
}

/** Interval between two measurements of the size. */
const MEASURE_MS = 30_000;
const NO_PAIRS: FoundPairs = { found: [], next: undefined };
/** Most pairs read in one call: a pruning that runs for minutes leaves hundreds of thousands of stale ones. */
const MAX_PAIRS_LOOKED_AT = 1_000;
