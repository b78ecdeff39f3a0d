import type { BlockRange } from "../../../logs/logQuery.ts";
import { smaller } from "../../../primitives/quantity.ts";
import { ERRORS, rangeAbove, withDetail } from "../../errors/errors.ts";
import type { RpcSettings } from "../../ports.ts";
import { FieldError, rpcError } from "../graphQlError.ts";

/**
 * A range of blocks, both ends included and cut off at the head; undefined when it lies beyond. Besu allows any range here:
 * --rpc-max-logs-range bounds it as it bounds eth_getLogs, and the error, which has no data here, names it. Throws a FieldError.
 */
export function withinRange(
  { from, to }: BlockRange,
  head: bigint,
  { maxLogsRange }: Pick<RpcSettings, "maxLogsRange">,
): BlockRange | undefined {
  if (from > to) throw rpcError(ERRORS.invalidParams);
  if (from < 0n) throw new FieldError("Argument must be positive");
  const last = smaller(to, head);
  if (from > last) return undefined;
  if (maxLogsRange > 0n && last - from > maxLogsRange) {
    const error = rangeAbove(maxLogsRange, "rpc-max-logs-range");
    throw rpcError(withDetail(error, error.data ?? ""));
  }
  return { from, to: last };
}
