import type { Address } from "../../primitives/address.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../txpool/limits.ts";
import {
  addressType,
  bigintType,
  choiceType,
  decimalType,
  integerType,
  listType,
  switchType,
} from "../valueTypes.ts";
import { option } from "./option.ts";

const MAX_WEI = 2n ** 256n - 1n;
const NO_SENDERS: readonly Address[] = [];

export const TX_POOL_OPTIONS = {
  "tx-pool": option({
    type: choiceType(["LAYERED", "SEQUENCED", "LEGACY"]),
    default: undefined,
    group: "Transaction pool",
    isHidden: true,
    noEffect: "there is one kind of pool, and the limits of both kinds are honoured",
    help: "Kind of pool.",
  }),
  "tx-pool-max-size": option({
    type: integerType({ label: "<COUNT>", unit: "transactions", min: 1n }),
    default: DEFAULT_TX_POOL_LIMITS.maxTransactions,
    group: "Transaction pool",
    help: "Most transactions in the pool.",
  }),
  "tx-pool-layer-max-capacity": option({
    type: integerType({ label: "<BYTES>", unit: "bytes", min: 1n }),
    default: DEFAULT_TX_POOL_LIMITS.maxBytes,
    group: "Transaction pool",
    help: "Most bytes of transactions in the pool.",
  }),
  "tx-pool-max-prioritized": option({
    type: integerType({ label: "<COUNT>", unit: "transactions", min: 1n }),
    default: undefined,
    defaultText: "no limit",
    group: "Transaction pool",
    help: "Most transactions offered to one block.",
  }),
  "tx-pool-max-future-by-sender": option({
    type: integerType({ label: "<COUNT>", unit: "transactions", min: 1n }),
    default: DEFAULT_TX_POOL_LIMITS.maxFutureBySender,
    group: "Transaction pool",
    help: "How far ahead of its sender's next nonce a transaction may be.",
  }),
  "tx-pool-price-bump": option({
    type: integerType({ label: "<PERCENT>", unit: "percent", max: 100n }),
    default: undefined,
    defaultText: "10, or 0 where gas is free",
    group: "Transaction pool",
    help: "How much more than the transaction it replaces a newcomer must pay.",
  }),
  "tx-pool-min-gas-price": option({
    type: bigintType({ label: "<WEI>", unit: "wei", max: MAX_WEI }),
    default: DEFAULT_TX_POOL_LIMITS.admissionFloorWei,
    group: "Transaction pool",
    help: "Lowest price per gas that is let into the pool.",
  }),
  "tx-pool-no-local-priority": option({
    type: switchType,
    default: false,
    group: "Transaction pool",
    aliases: ["tx-pool-disable-locals"],
    help: "Treat transactions sent to this node as those of any other.",
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
    default: undefined,
    group: "Transaction pool",
    isHidden: true,
    noEffect: "transactions leave the pool by its limits, not by age",
    help: "Age at which transactions are dropped.",
  }),
  "tx-pool-limit-by-account-percentage": option({
    type: decimalType({ label: "<FRACTION>", min: 0, max: 1 }),
    default: undefined,
    group: "Transaction pool",
    isHidden: true,
    noEffect: "--tx-pool-max-future-by-sender bounds a sender",
    help: "Share of the pool that one sender may fill.",
  }),
  "tx-pool-enable-save-restore": option({
    type: switchType,
    default: false,
    group: "Transaction pool",
    isHidden: true,
    noEffect: "the pool is not kept over a restart in this version",
    isMetBy: false,
    help: "Write the pool to a file at the stop, and read it at the start.",
  }),
  "rpc-tx-feecap": option({
    type: bigintType({ label: "<WEI>", unit: "wei, 0 for no cap", max: 2n ** 64n - 1n }),
    default: DEFAULT_TX_POOL_LIMITS.feeCapWei,
    group: "Transaction pool",
    help: "Highest fee accepted of transactions sent to this node; 0 for no cap.",
  }),
  "strict-tx-replay-protection-enabled": option({
    type: switchType,
    default: false,
    group: "Transaction pool",
    help: "Refuse transactions sent to this node that name no chain id.",
  }),
} as const;
