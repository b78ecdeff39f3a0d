import type { Address } from "../../primitives/address.ts";
import { optional } from "../method.ts";
import { OBJECT } from "../schemas.ts";
import { decodeAddress, decodeIndex, isAbsent, isObject } from "./parameters.ts";

/** Which entries of an account's lists are wanted (docs/explorer-api.md, "Filters"). Absent members filter nothing. */
export interface ActivityFilter {
  /** The account sent, or received. */
  readonly direction?: "in" | "out" | undefined;
  readonly kind?: "payment" | "call" | "creation" | "failed" | undefined;
  readonly token?: Address | undefined;
  /** First and last block. */
  readonly fromBlock?: number | undefined;
  readonly toBlock?: number | undefined;
  /** Timestamps of the first block, and before which the last one was made, in seconds since 1970. */
  readonly fromTime?: number | undefined;
  readonly beforeTime?: number | undefined;
}

const DIRECTIONS = ["in", "out"] as const;
const KINDS = ["payment", "call", "creation", "failed"] as const;

function decodeActivityFilter(value: unknown): ActivityFilter | undefined {
  if (!isObject(value)) return undefined;
  const filter = {
    direction: DIRECTIONS.find((one) => one === value.direction),
    kind: KINDS.find((one) => one === value.kind),
    token: decodeAddress(value.token),
    fromBlock: decodeIndex(value.fromBlock),
    toBlock: decodeIndex(value.toBlock),
    fromTime: decodeIndex(value.fromTime),
    beforeTime: decodeIndex(value.beforeTime),
  };
  const isWrong = Object.entries(filter).some(
    ([name, decoded]) => decoded === undefined && !isAbsent(value[name]),
  );
  return isWrong ? undefined : filter;
}

export const ACTIVITY_FILTER = optional("filter", decodeActivityFilter, OBJECT);
