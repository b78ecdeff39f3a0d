import type { Address } from "../../../primitives/address.ts";
import type { TraceFilter } from "../../../tracers/traceJob.ts";
import { ERRORS, rangeAbove } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, type NumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { CRITERIA_LIMIT, decodeAddresses, decodeLogFilter } from "../../parameters/logFilterParameter.ts";
import { decodeIndex, isAbsent, isObject } from "../../parameters/parameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { listOf, OBJECT, TRACE_FILTER } from "../../schemas.ts";

export const traceFilter = defineMethod({
  name: "trace_filter",
  namespace: "TRACE",
  summary: "The traces of a range of blocks, by sender and recipient.",
  parameters: [required("filter", decodeTraceFilter, TRACE_FILTER)],
  result: { name: "traces", schema: listOf(OBJECT) },
  ports: ["chain", "tracer", "settings"],
  async run([{ from, to, ...filter }], context) {
    const { chain, tracer, settings } = context.backend;
    const fromBlock = numberOf(chain, from);
    const toBlock = numberOf(chain, to);
    const { maxTraceFilterRange } = settings;
    // Besu fails on this tag in this method only.
    if (from === "pending" || to === "pending") return ERRORS.internalError;
    if (fromBlock < 0n || toBlock < 0n) return ERRORS.internalError;
    if (fromBlock > toBlock) return [];
    if (maxTraceFilterRange > 0n && toBlock - fromBlock > maxTraceFilterRange)
      return rangeAbove(maxTraceFilterRange, "rpc-max-trace-filter-range");
    const { number } = chain.head.header;
    if (fromBlock > number) return [];
    const isBeyond = toBlock > number;
    return traceAnswer(
      await tracer.run(
        {
          kind: "filter",
          filter: { ...filter, fromBlock, toBlock: isBeyond ? number : toBlock },
        },
        context,
      ),
    );
  },
});

interface TraceFilterParameter extends Omit<TraceFilter, "fromBlock" | "toBlock"> {
  readonly from: NumberOrTag;
  readonly to: NumberOrTag;
}

/**
 * Members of a log filter are allowed if they decode, and ignored, because Besu uses one type for both. Besu refuses `mode`, which
 * OpenEthereum's trace_filter has and clients on alloy always write; other members are refused here, too.
 */
function decodeTraceFilter(value: unknown): TraceFilterParameter | undefined {
  if (!isObject(value)) return undefined;
  const { fromBlock, toBlock, fromAddress, toAddress, mode, after, count, ...others } = value;
  if (decodeLogFilter(others) === undefined) return undefined;
  const from = isAbsent(fromBlock) ? "latest" : decodeNumberOrTag(fromBlock);
  const to = isAbsent(toBlock) ? "latest" : decodeNumberOrTag(toBlock);
  const fromAddresses = decodeAccounts(fromAddress);
  const toAddresses = decodeAccounts(toAddress);
  const skipped = isAbsent(after) ? 0 : decodeIndex(after);
  const most = isAbsent(count) ? Number.MAX_SAFE_INTEGER : decodeIndex(count);
  if (from === undefined || to === undefined || fromAddresses === undefined || toAddresses === undefined)
    return undefined;
  if (skipped === undefined || most === undefined) return undefined;
  if (!isAbsent(mode) && mode !== "union" && mode !== "intersection") return undefined;
  return { from, to, fromAddresses, toAddresses, isUnion: mode === "union", after: skipped, count: most };
}

/** No address, one or a list; at most as many as in a log filter. */
function decodeAccounts(value: unknown): readonly Address[] | undefined {
  const addresses = isAbsent(value) ? [] : decodeAddresses(value);
  return addresses === undefined || addresses.length > CRITERIA_LIMIT ? undefined : addresses;
}
