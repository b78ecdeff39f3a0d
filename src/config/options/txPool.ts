import type { Address } from "../../primitives/address.ts";
import { ok } from "../../primitives/result.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../txpool/limits.ts";
import {
  addressType,
  bad,
  bigintType,
  choiceType,
  decimalType,
  integerType,
  listType,
  pathType,
  percentType,
  switchType,
  type ValueType,
  weiType,
} from "../valueTypes.ts";
import { option } from "./option.ts";

const NO_SENDERS: readonly Address[] = [];
const NO_BLOBS = "blob transactions are not supported";

/** The limits of Besu's sequenced pool (options.md#pool-options). */
export const SEQUENCED_DEFAULTS = {
  maxTransactions: 4096,
  retentionHours: 13,
  limitByAccount: 0.001,
} as const;

/** Above 0 and at most 1. */
const fractionType: ValueType<number> = {
  ...decimalType({ label: "<FRACTION>", min: 0, max: 1 }),
  accepts: "a number above 0, up to 1",
  read(text) {
    const fraction = decimalType({ label: "<FRACTION>", min: 0, max: 1 }).read(text);
    return fraction.ok && fraction.value === 0 ? bad(`'${text}' is not above 0`) : fraction;
  },
};

const TRANSACTION_TYPES = ["FRONTIER", "ACCESS_LIST", "EIP1559", "BLOB"];
const NO_TYPE_LIMITS: readonly string[] = [];

/** A list of TYPE=COUNT. */
const typeLimitsType = listType<string>(
  {
    arity: "single",
    label: "<TYPE=COUNT>",
    accepts: `TYPE=COUNT, with a type of ${TRANSACTION_TYPES.join(", ")}`,
    read(text) {
      const [type = "", count = "", ...others] = text.split("=");
      const isKnown = TRANSACTION_TYPES.includes(type.toUpperCase());
      return isKnown && /^\d+$/.test(count) && others.length === 0
        ? ok(text)
        : bad(`'${text}' is not a transaction type and a count`);
    },
    show: String,
  },
  "<TYPE=COUNT,...>",
);

export const TX_POOL_OPTIONS = {
  "tx-pool": option({
    type: choiceType(["LAYERED", "SEQUENCED", "LEGACY"]),
    default: "LAYERED",
    group: "Transaction pool",
    help: "How the pool is limited: LAYERED by bytes, SEQUENCED (or LEGACY) by count and age.",
  }),
  "tx-pool-max-size": option({
    type: integerType({ label: "<COUNT>", unit: "transactions", min: 1n }),
    default: undefined,
    defaultText: `${DEFAULT_TX_POOL_LIMITS.maxTransactions}, or ${SEQUENCED_DEFAULTS.maxTransactions} with SEQUENCED`,
    group: "Transaction pool",
    help: "Maximum number of transactions in the pool.",
  }),
  "tx-pool-layer-max-capacity": option({
    type: integerType({ label: "<BYTES>", unit: "bytes", min: 1n }),
    default: DEFAULT_TX_POOL_LIMITS.maxBytes,
    group: "Transaction pool",
    help: "Maximum size of all transactions in the pool together.",
  }),
  "tx-pool-max-prioritized": option({
    type: integerType({ label: "<COUNT>", unit: "transactions", min: 1n }),
    default: undefined,
    defaultText: "no limit",
    group: "Transaction pool",
    help: "Maximum number of transactions offered to one block.",
  }),
  "tx-pool-max-future-by-sender": option({
    type: integerType({ label: "<COUNT>", unit: "transactions", min: 1n }),
    default: DEFAULT_TX_POOL_LIMITS.maxFutureBySender,
    group: "Transaction pool",
    help: "Maximum distance of a nonce from the sender's next nonce.",
  }),
  "tx-pool-price-bump": option({
    type: percentType,
    default: undefined,
    defaultText: "10, or 0 where gas is free",
    group: "Transaction pool",
    help: "Minimum price increase of a replacement transaction.",
  }),
  "tx-pool-min-gas-price": option({
    type: weiType,
    default: DEFAULT_TX_POOL_LIMITS.admissionFloorWei,
    group: "Transaction pool",
    help: "Minimum gas price of a transaction without priority to enter the pool.",
  }),
  "tx-pool-no-local-priority": option({
    type: switchType,
    default: false,
    group: "Transaction pool",
    aliases: ["tx-pool-disable-locals"],
    help: "Give transactions sent to this node no priority over remote ones.",
  }),
  "tx-pool-priority-senders": option({
    type: listType(addressType, "<ADDRESS,...>"),
    default: NO_SENDERS,
    defaultText: "none",
    group: "Transaction pool",
    help: "Senders whose transactions always have priority.",
  }),
  "tx-pool-retention-hours": option({
    type: integerType({ label: "<HOURS>", unit: "hours", min: 1n }),
    default: SEQUENCED_DEFAULTS.retentionHours,
    group: "Transaction pool",
    help: "With SEQUENCED: age at which transactions are dropped.",
  }),
  "tx-pool-limit-by-account-percentage": option({
    type: fractionType,
    default: SEQUENCED_DEFAULTS.limitByAccount,
    group: "Transaction pool",
    help: "With SEQUENCED: maximum distance of a nonce from the sender's next nonce, as a fraction of the pool size.",
  }),
  "tx-pool-enable-save-restore": option({
    type: switchType,
    default: false,
    group: "Transaction pool",
    help: "Save the pool to a file when the node stops, and restore it when it starts.",
  }),
  "tx-pool-save-file": option({
    type: pathType,
    default: "txpool.dump",
    group: "Transaction pool",
    requires: "tx-pool-enable-save-restore",
    help: "File for the saved pool; a relative path is relative to the data folder.",
  }),
  "tx-pool-blob-price-bump": option({
    type: percentType,
    default: 100,
    group: "Transaction pool",
    isHidden: true,
    noEffect: NO_BLOBS,
    help: "Minimum price increase of a replacement blob transaction.",
  }),
  "tx-pool-max-prioritized-by-type": option({
    type: typeLimitsType,
    default: NO_TYPE_LIMITS,
    defaultText: "BLOB=6",
    group: "Transaction pool",
    isHidden: true,
    noEffect: "--tx-pool-max-prioritized limits all types together, and blob transactions are not supported",
    help: "Maximum number of transactions of each type offered to one block.",
  }),
  "rpc-tx-feecap": option({
    type: bigintType({ label: "<WEI>", unit: "wei, 0 for no cap", max: 2n ** 64n - 1n }),
    default: DEFAULT_TX_POOL_LIMITS.feeCapWei,
    group: "Transaction pool",
    help: "Maximum price per gas of a transaction sent to this node by JSON-RPC; 0 for no cap.",
  }),
  "strict-tx-replay-protection-enabled": option({
    type: switchType,
    default: false,
    group: "Transaction pool",
    help: "Refuse transactions without a chain id that are sent to this node by JSON-RPC.",
  }),
} as const;
