import {
  countType,
  hostType,
  integerType,
  millisecondsType,
  portType,
  switchType,
  textType,
} from "../valueTypes.ts";
import { option, withoutEffect } from "./option.ts";

const group = "Block production";
const pow = withoutEffect({ group, noEffect: "it belongs to proof of work" });
const stratum = withoutEffect({
  group,
  noEffect: "it belongs to proof of work",
  requires: "miner-stratum-enabled",
});
const merge = withoutEffect({ group, noEffect: "it belongs to proof of stake" });
const fees = withoutEffect({
  group: "Limits and answers of JSON-RPC",
  noEffect:
    "suggested prices are limited by the next base fee, --min-gas-price and --api-gas-price-max alone",
});

/** Options of networks with another kind of consensus. */
export const PROOF_OF_WORK_OPTIONS = {
  "miner-enabled": option({
    type: switchType,
    default: false,
    group,
    isHidden: true,
    isMetBy: false,
    noEffect: "a node makes blocks when its key is a validator's",
    help: "Make blocks by proof of work.",
  }),
  "miner-stratum-enabled": pow.switched(false, "Serve miners."),
  "miner-stratum-host": stratum.valued(hostType, "0.0.0.0", "Address to listen on."),
  "miner-stratum-port": stratum.valued(portType, 8008, "Port to listen on."),
  "Xmax-ommers-depth": pow.valued(countType, 8, "Maximum age of an uncle, in blocks."),
  "Xminer-pow-job-ttl": pow.valued(millisecondsType, 300_000, "Age at which a job is dropped."),
  "Xminer-remote-sealers-hashrate-ttl": pow.valued(
    integerType({ label: "<MINUTES>", unit: "minutes" }),
    10,
    "Age at which a reported hash rate is dropped.",
  ),
  "Xminer-remote-sealers-limit": pow.valued(countType, 1000, "Number of miners that are tracked."),
  "Xminer-stratum-extranonce": stratum.optional(
    textType({ label: "<HEX>", accepts: "text" }),
    "Extra nonce.",
  ),
  "Xpos-block-creation-max-time": merge.valued(millisecondsType, 12_000, "Time to build a block."),
  "Xpos-block-creation-repetition-min-duration": merge.valued(
    millisecondsType,
    500,
    "Minimum time between two versions of a block.",
  ),
  "api-gas-and-priority-fee-limiting-enabled": fees.switched(
    false,
    "Limit suggested prices relative to the head's.",
  ),
  "api-gas-and-priority-fee-lower-bound-coefficient": fees.valued(
    integerType({ label: "<PERCENT>", unit: "percent" }),
    0,
    "Lower bound, in percent of the price at the head.",
  ),
  "api-gas-and-priority-fee-upper-bound-coefficient": fees.optional(
    integerType({ label: "<PERCENT>", unit: "percent" }),
    "Upper bound, in percent of the price at the head.",
    { defaultText: "none" },
  ),
} as const;
