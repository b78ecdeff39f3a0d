import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { smaller } from "../primitives/quantity.ts";
import { DEFAULT_TX_POOL_LIMITS, type TxPoolLimits } from "../txpool/limits.ts";
import { SEQUENCED_DEFAULTS } from "./options/txPool.ts";
import type { OptionName, OptionValues } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";

const MS_PER_HOUR = 3_600_000;

/** Options of only one of Besu's two pools. Besu refuses them for the other pool; here they give a warning. */
const ONLY_LAYERED = [
  "tx-pool-layer-max-capacity",
  "tx-pool-max-prioritized",
  "tx-pool-max-future-by-sender",
] as const;
const ONLY_SEQUENCED = ["tx-pool-retention-hours", "tx-pool-limit-by-account-percentage"] as const;

/**
 * The pool's limits. There is one implementation; --tx-pool chooses which of Besu's two pools sets the limits
 * (options.md#pool-options).
 */
export function poolSettings(values: OptionValues): TxPoolLimits {
  const minGasPriceWei = values["min-gas-price"];
  const floorWei = values["tx-pool-min-gas-price"];
  const priceBumpPercent = values["tx-pool-price-bump"];
  return {
    ...(isSequenced(values) ? sequencedBounds(values) : layeredBounds(values)),
    ...(priceBumpPercent !== undefined && { priceBumpPercent }),
    feeCapWei: values["rpc-tx-feecap"],
    admissionFloorWei: smaller(floorWei, minGasPriceWei),
    hasLocalPriority: !values["tx-pool-no-local-priority"],
    prioritySenders: values["tx-pool-priority-senders"],
    requiresReplayProtection: values["strict-tx-replay-protection-enabled"],
    blockFloors: { minGasPriceWei, minPriorityFeeWei: values["min-priority-fee"] },
  };
}

/**
 * The maximum size in statistics: -1 for Besu's layered pool (the default), which has no size limit
 * (json-rpc.md#txpool).
 */
export function shownPoolSize({ values, isGiven }: ResolvedOptions): number {
  return isSequenced(values) || isGiven("tx-pool-max-size") ? poolSettings(values).maxTransactions : -1;
}

/** Warnings about pool options with no effect or another effect than asked for. */
export function poolWarnings(options: ResolvedOptions): string[] {
  const { values, isGiven, sourceOf } = options;
  const warnings: string[] = [];
  if (isSequenced(values)) {
    warnings.push(...withoutEffect(options, ONLY_LAYERED, "the sequenced pool is limited by count and age"));
  } else {
    warnings.push(...withoutEffect(options, ONLY_SEQUENCED, "only --tx-pool=SEQUENCED uses it"));
    if (isGiven("tx-pool-max-size")) {
      warnings.push("--tx-pool-max-size belongs to --tx-pool=SEQUENCED; it limits the layered pool, too.");
    }
  }
  if (
    values["tx-pool-min-gas-price"] > values["min-gas-price"] &&
    sourceOf("tx-pool-min-gas-price").kind === "default"
  ) {
    warnings.push(
      `Forcing tx-pool-min-gas-price=${values["min-gas-price"]}, since it cannot be greater than the value of min-gas-price`,
    );
  }
  return warnings;
}

/** Adjustments that Besu logs, with Besu's texts (options.md#adjustments). */
export function poolNotes({ values }: ResolvedOptions, spec: ChainSpec): readonly string[] {
  if (values["tx-pool-price-bump"] !== undefined) return [];
  const forced = "Forcing price bump for transaction replacement to 0, since";
  if (spec.isZeroBaseFee) return [`${forced} we are on a zero basefee network`];
  return values["min-gas-price"] === 0n ? [`${forced} min-gas-price is set to 0`] : [];
}

type Bounds = Pick<
  TxPoolLimits,
  "maxTransactions" | "maxBytes" | "maxPrioritized" | "maxFutureBySender" | "retentionMs"
>;

function layeredBounds(values: OptionValues): Bounds {
  return {
    maxTransactions: values["tx-pool-max-size"] ?? DEFAULT_TX_POOL_LIMITS.maxTransactions,
    maxBytes: values["tx-pool-layer-max-capacity"],
    maxPrioritized: values["tx-pool-max-prioritized"] ?? DEFAULT_TX_POOL_LIMITS.maxPrioritized,
    maxFutureBySender: values["tx-pool-max-future-by-sender"],
    retentionMs: DEFAULT_TX_POOL_LIMITS.retentionMs,
  };
}

function sequencedBounds(values: OptionValues): Bounds {
  const maxTransactions = values["tx-pool-max-size"] ?? SEQUENCED_DEFAULTS.maxTransactions;
  return {
    maxTransactions,
    maxBytes: DEFAULT_TX_POOL_LIMITS.maxBytes,
    maxPrioritized: DEFAULT_TX_POOL_LIMITS.maxPrioritized,
    maxFutureBySender: Math.ceil(values["tx-pool-limit-by-account-percentage"] * maxTransactions),
    retentionMs: values["tx-pool-retention-hours"] * MS_PER_HOUR,
  };
}

function isSequenced(values: OptionValues): boolean {
  return values["tx-pool"] !== "LAYERED";
}

function withoutEffect(
  { isGiven, values }: ResolvedOptions,
  names: readonly OptionName[],
  reason: string,
): string[] {
  const given = names.filter(isGiven).map((name) => `--${name}`);
  if (given.length === 0) return [];
  const verb = given.length === 1 ? "has" : "have";
  return [`${given.join(", ")} ${verb} no effect with --tx-pool=${values["tx-pool"]}: ${reason}.`];
}
