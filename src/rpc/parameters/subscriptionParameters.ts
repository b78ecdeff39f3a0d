import type { LogMatcher } from "../../logs/logMatcher.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { JsonSchema } from "../method.ts";
import type { BlockDetail } from "../results/blockResult.ts";
import { BOOLEAN, LOG_FILTER } from "../schemas.ts";
import { decodeLogFilter, type LogFilter } from "./logFilterParameter.ts";
import { decodeBoolean, isAbsent, isObject } from "./parameters.ts";

/** The events that a caller subscribes to. */
export type WantedEvents =
  | { readonly kind: "newHeads"; readonly detail: BlockDetail }
  | { readonly kind: "logs"; readonly filter: LogFilter }
  | { readonly kind: "newPendingTransactions"; readonly detail: PendingDetail }
  | { readonly kind: "droppedPendingTransactions" }
  | { readonly kind: "syncing" };

/** The events that a subscription delivers. */
export type SubscriptionParameters =
  | Exclude<WantedEvents, { readonly kind: "logs" }>
  | { readonly kind: "logs"; readonly filter: LogFilter; readonly matcher: LogMatcher };

/** How a pending transaction is shown: its hash, Besu's members, or go-ethereum's full object. */
export type PendingDetail = BlockDetail | "whole";

export type SubscriptionKind = SubscriptionParameters["kind"];

export const SUBSCRIPTION_KINDS: readonly SubscriptionKind[] = [
  "newHeads",
  "logs",
  "newPendingTransactions",
  "droppedPendingTransactions",
  "syncing",
];

/** Logs take a filter, the other kinds a level of detail, for pending transactions also in go-ethereum's form. */
export const SUBSCRIPTION_OPTIONS: JsonSchema = {
  anyOf: [
    LOG_FILTER,
    { type: "object", properties: { includeTransactions: BOOLEAN }, additionalProperties: false },
    BOOLEAN,
  ],
};

/** Decodes the parameters of eth_subscribe; undefined when the answer is -32600. */
export function decodeSubscription(type: unknown, options: unknown): WantedEvents | undefined {
  if (type === "logs") {
    const filter = decodeLogFilter(options);
    return filter && { kind: "logs", filter };
  }
  if (type === "newPendingTransactions" && typeof options === "boolean")
    return { kind: type, detail: options ? "whole" : "hashes" };
  const detail = decodeDetail(options);
  if (detail === undefined) return undefined;
  switch (type) {
    case "newHeads":
    case "newPendingTransactions":
      return { kind: type, detail };
    case "droppedPendingTransactions":
    case "syncing":
      return { kind: type };
    default:
      return undefined;
  }
}

/** The id of a subscription in the form that the node stores, from hex text with or without prefix or a JSON integer. */
export function decodeSubscriptionId(value: unknown): string | undefined {
  if (typeof value === "number")
    return Number.isSafeInteger(value) && value >= 0 ? toQuantity(value) : undefined;
  if (typeof value !== "string") return undefined;
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{1,16})$/.exec(value) ?? [];
  return digits === undefined ? undefined : toQuantity(BigInt(`0x${digits}`));
}

/** Decodes `{"includeTransactions": bool}` or nothing; an unknown member is refused. */
function decodeDetail(options: unknown): BlockDetail | undefined {
  if (isAbsent(options)) return "hashes";
  if (!isObject(options)) return undefined;
  const { includeTransactions, ...others } = options;
  if (Object.keys(others).length > 0) return undefined;
  const isFull = isAbsent(includeTransactions) ? false : decodeBoolean(includeTransactions);
  if (isFull === undefined) return undefined;
  return isFull ? "transactions" : "hashes";
}
