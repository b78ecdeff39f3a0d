import type { Address } from "../primitives/address.ts";

/** The operator's settings of the pool (options.md#pool-options). */
export interface TxPoolLimits {
  /** Most transactions in the pool, pending and queued together. */
  readonly maxTransactions: number;
  /** Most bytes in the pool, counted as the memory that the contents of the transactions occupy (occupancy.ts). */
  readonly maxBytes: number;
  /** Most transactions offered to one block (`--tx-pool-max-prioritized`); Besu's 2,000 would limit a block. */
  readonly maxPrioritized: number;
  /** Largest distance of a nonce beyond the sender's unbroken run (`--tx-pool-max-future-by-sender`). */
  readonly maxFutureBySender: number;
  /** Age at which a transaction is dropped (`--tx-pool-retention-hours`). */
  readonly retentionMs: number;
  /** `--tx-pool-price-bump`, when the operator gave it; otherwise replacement.ts decides. */
  readonly priceBumpPercent?: number;
  /** `--rpc-tx-feecap`: highest price per gas of a local transaction; 0 is no cap. */
  readonly feeCapWei: bigint;
  /** `--tx-pool-min-gas-price`: lowest price per gas of a transaction without priority. */
  readonly admissionFloorWei: bigint;
  /** False with `--tx-pool-no-local-priority`. */
  readonly hasLocalPriority: boolean;
  /** `--tx-pool-priority-senders`: prioritized from any source. */
  readonly prioritySenders: readonly Address[];
  /** `--strict-tx-replay-protection-enabled`: local transactions must name the chain id. */
  readonly requiresReplayProtection: boolean;
  /** Price floors of local block building, for transactions without priority; changeable at run time. */
  readonly blockFloors: BlockFloors;
}

/**
 * `--min-gas-price` and `--min-priority-fee`, both wei per gas, compared with what the transaction pays in that very
 * block.
 */
export interface BlockFloors {
  readonly minGasPriceWei: bigint;
  readonly minPriorityFeeWei: bigint;
}

/** The first floor above what a transaction pays in a block with this base fee, `tipWei` of it as priority fee; undefined for none. */
export function missedFloor(
  tipWei: bigint,
  baseFeePerGas: bigint | undefined,
  { minGasPriceWei, minPriorityFeeWei }: BlockFloors,
): "belowMinGasPrice" | "belowMinPriorityFee" | undefined {
  if (tipWei + (baseFeePerGas ?? 0n) < minGasPriceWei) return "belowMinGasPrice";
  return tipWei < minPriorityFeeWei ? "belowMinPriorityFee" : undefined;
}

/** Room for five blocks of 12,000 transfers; at some 2 kB of memory each, 120 MB when full of small transactions. */
const MAX_TRANSACTIONS = 60_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FUTURE_BY_SENDER = 200;
const FEE_CAP_WEI = 1_000_000_000_000_000_000n;
const MIN_GAS_PRICE_WEI = 1000n;

export const DEFAULT_TX_POOL_LIMITS: TxPoolLimits = {
  maxTransactions: MAX_TRANSACTIONS,
  maxBytes: MAX_BYTES,
  maxPrioritized: Number.POSITIVE_INFINITY,
  maxFutureBySender: MAX_FUTURE_BY_SENDER,
  retentionMs: Number.POSITIVE_INFINITY,
  feeCapWei: FEE_CAP_WEI,
  admissionFloorWei: MIN_GAS_PRICE_WEI,
  hasLocalPriority: true,
  prioritySenders: [],
  requiresReplayProtection: false,
  blockFloors: { minGasPriceWei: MIN_GAS_PRICE_WEI, minPriorityFeeWei: 0n },
};
