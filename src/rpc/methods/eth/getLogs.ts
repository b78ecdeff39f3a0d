import type { FoundLogs } from "../../../logs/findLogs.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { ERRORS, rangeAbove } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, required } from "../../method.ts";
import { numberOf } from "../../parameters/blockParameter.ts";
import { decodeLogFilter, type LogFilter } from "../../parameters/logFilterParameter.ts";
import { logQueryAnswer } from "../../results/logQueryAnswer.ts";
import { LOG_FILTER, listOf, OBJECT } from "../../schemas.ts";

export const ethGetLogs = defineMethod({
  name: "eth_getLogs",
  namespace: "ETH",
  summary: "Logs of a range of blocks, or of one block, by address and topics.",
  parameters: [required("filter", decodeLogFilter, LOG_FILTER)],
  result: { name: "logs", schema: listOf(OBJECT) },
  ports: ["chain", "findLogs", "settings"],
  run([filter], context) {
    return filter.blockHash === undefined
      ? ofRange(filter, context)
      : ofBlock(filter, filter.blockHash, context);
  },
});

/** The limit applies to the requested range, not to the range cut off at the head. */
async function ofRange(
  filter: LogFilter,
  context: ContextOf<"chain" | "settings" | "findLogs">,
): Promise<Answer> {
  const { chain, settings, findLogs } = context.backend;
  const range = { from: numberOf(chain, filter.from), to: numberOf(chain, filter.to) };
  if (range.from < 0n || range.to < 0n) return ERRORS.internalError;
  if (settings.maxLogsRange > 0n && range.to - range.from > settings.maxLogsRange)
    return rangeAbove(settings.maxLogsRange, "rpc-max-logs-range");
  return logQueryAnswer(await findLogs(filter, range, context));
}

/** A block that a rewind removes in the meantime counts as unknown. */
async function ofBlock(
  filter: LogFilter,
  blockHash: Hash,
  context: ContextOf<"chain" | "findLogs">,
): Promise<Answer> {
  const { chain, findLogs } = context.backend;
  const number = chain.headerByHash(blockHash)?.header.number;
  const found =
    number === undefined ? NO_LOGS : await findLogs(filter, { from: number, to: number }, context);
  return logQueryAnswer(chain.headerByHash(blockHash) === undefined ? NO_LOGS : found);
}

const NO_LOGS: FoundLogs = { kind: "found", pieces: [] };
