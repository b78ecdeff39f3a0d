import type { Logger } from "../observability/logger.ts";
import { OftenLines } from "../observability/often.ts";
import type { Metrics } from "../observability/registry.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Clock } from "../primitives/clock.ts";
import { effectiveGasPrice, type FeeFields, feeCap } from "../types/transaction.ts";
import type { PoolEntry } from "./entry.ts";
import type { TxPool } from "./txPool.ts";
import { judgePrice, type PriceJudgement, UNMINED_WORDS } from "./unminedReason.ts";

/** A block's use of its gas. */
interface UsedBlock {
  readonly header: {
    readonly gasUsed: bigint;
    readonly gasLimit: bigint;
    readonly baseFeePerGas?: bigint | undefined;
  };
}

interface UnminedWatchParts {
  readonly pool: Pick<
    TxPool,
    "entries" | "nextNonce" | "onAdded" | "onRemoved" | "blockFloors" | "statistics"
  >;
  readonly chain: {
    onHeadChanged(
      row: "unminedWatch",
      listener: (change: { readonly added: readonly UsedBlock[] }) => void,
    ): () => void;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent where metrics are off. */
  readonly metrics?: Metrics | undefined;
}

/** Time for which blocks with room may pass over a transaction without a warning. */
const OVERDUE_MS = 60_000;
/** Most lines in an interval; each transaction is named once. */
const LINES = 10;
const INTERVAL_MS = 10 * 60_000;
/** Number of hashes kept of transactions that were named. */
const MAX_NAMED = 10_000;

const BELOW_FLOOR =
  "a local transaction offers less than --min-gas-price; validators with the same floor do not mine it";
const UNMINED = "no block took a local transaction for a minute, although blocks had room";

/** A local transaction that blocks with room have passed over for a minute. */
export interface UnminedTransaction extends PriceJudgement {
  readonly entry: PoolEntry;
}

/**
 * Warns of local transactions that no validator seems to include; their callers have a hash and would otherwise wait without
 * notice, since a follower cannot know the validators' floors. Names each transaction that offers less than this node's own
 * floor on arrival, and each sender's next transaction once blocks with room for it have passed over it for a minute.
 */
export class UnminedWatch {
  private readonly parts: UnminedWatchParts;
  private readonly lines: OftenLines;
  private readonly named = new Set<string>();
  /** Gas left by the fullest block since `sinceMs`; undefined without a block. */
  private room: { readonly sinceMs: number; readonly gas: bigint | undefined };
  /** Transactions that blocks passed over, one of each sender, keyed by hash, the longest waiting first. */
  private passedOver = new Map<string, PoolEntry>();
  private baseFeePerGas: bigint | undefined;

  constructor(parts: UnminedWatchParts) {
    const { pool, chain, clock, metrics } = parts;
    this.parts = parts;
    this.lines = new OftenLines({ lines: LINES, intervalMs: INTERVAL_MS }, clock);
    this.room = { sinceMs: clock.nowMs(), gas: undefined };
    pool.onAdded((entry) => {
      if (entry.origin === "local" && this.priceOf(entry.transaction) < pool.blockFloors.minGasPriceWei)
        this.warn(BELOW_FLOOR, entry);
    });
    pool.onRemoved(({ entry }) => {
      if (this.passedOver.size > 0) this.passedOver.delete(toKey(entry.transaction.hash));
    });
    chain.onHeadChanged("unminedWatch", ({ added }) => {
      for (const { header } of added) {
        this.baseFeePerGas = header.baseFeePerGas;
        const gas = header.gasLimit - header.gasUsed;
        if (this.room.gas === undefined || gas < this.room.gas) this.room = { ...this.room, gas };
      }
      this.check();
    });
    declareGauge(metrics, () => this.passedOver.size);
  }

  /** Number of senders whose next transaction blocks passed over. */
  get count(): number {
    return this.passedOver.size;
  }

  /**
   * The `most` transactions that have waited longest, the longest first: a full pool can have one of each of 60,000 senders.
   */
  list(most: number): readonly UnminedTransaction[] {
    const listed: UnminedTransaction[] = [];
    for (const entry of this.passedOver.values()) {
      if (listed.length === most) break;
      listed.push(this.judge(entry));
    }
    return listed;
  }

  private check(): void {
    const { pool, clock } = this.parts;
    const { room, named } = this;
    const nowMs = clock.nowMs();
    if (nowMs - room.sinceMs < OVERDUE_MS) return;
    const entries = room.gas === undefined ? [] : passedOverBy(pool, room.gas, nowMs - OVERDUE_MS);
    this.passedOver = new Map(entries.map((entry) => [toKey(entry.transaction.hash), entry]));
    this.room = { sinceMs: nowMs, gas: undefined };
    if (named.size > MAX_NAMED) named.clear();
    for (const [key, entry] of this.passedOver) {
      if (named.has(key)) continue;
      named.add(key);
      this.warn(`${UNMINED}; ${UNMINED_WORDS[this.judge(entry).reason]}`, entry);
    }
  }

  private warn(message: string, { transaction }: PoolEntry): void {
    const { pool, logger } = this.parts;
    const { hash, sender, nonce } = transaction;
    const report = (more: number): void =>
      logger.warn({ more }, `${message} (and ${more.toLocaleString("en")} more)`);
    if (!this.lines.admits(message, report)) return;
    const { minGasPriceWei } = pool.blockFloors;
    logger.warn({ hash, sender, nonce, priceWei: this.priceOf(transaction), minGasPriceWei }, message);
  }

  /** What a transaction pays in a block like the last one; its cap, while none has been seen. */
  private priceOf(transaction: FeeFields): bigint {
    const { baseFeePerGas } = this;
    return baseFeePerGas === undefined ? feeCap(transaction) : effectiveGasPrice(transaction, baseFeePerGas);
  }

  private judge(entry: PoolEntry): UnminedTransaction {
    const { baseFeePerGas } = this;
    const floors = this.parts.pool.blockFloors;
    return { entry, ...judgePrice(entry.transaction, { floors, baseFeePerGas }) };
  }
}

function declareGauge(metrics: Metrics | undefined, count: () => number): void {
  metrics?.gauge(
    {
      category: "TRANSACTION_POOL",
      prefix: "tx_",
      name: "pool_unmined_senders",
      help: "Senders whose next local transaction no block took for a minute, although blocks had room",
    },
    count,
  );
}

/**
 * The next local transaction of each sender that has waited since before `addedBeforeMs` and fits into the room, the longest
 * waiting first.
 */
function passedOverBy(
  pool: Pick<TxPool, "entries" | "nextNonce" | "statistics">,
  roomGas: bigint,
  addedBeforeMs: number,
): readonly PoolEntry[] {
  if (pool.statistics.local === 0) return [];
  const nextOf = new Map<string, PoolEntry>();
  for (const entry of pool.entries()) {
    const key = toKey(entry.transaction.sender);
    const other = nextOf.get(key);
    if (other === undefined || entry.transaction.nonce < other.transaction.nonce) nextOf.set(key, entry);
  }
  return [...nextOf.values()]
    .filter(
      ({ transaction, origin, addedAtMs }) =>
        origin === "local" &&
        addedAtMs < addedBeforeMs &&
        transaction.gasLimit <= roomGas &&
        transaction.nonce < pool.nextNonce(transaction.sender),
    )
    .sort((a, b) => a.addedAtMs - b.addedAtMs);
}
