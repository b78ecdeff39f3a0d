import type { LocatedLog } from "../../../chain/chain.ts";
import { createLogMatcher, type LogQueryResult, queryLogs } from "../../../chain/logQuery.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { numberOf } from "../../blockParameter.ts";
import { ERRORS, type RpcError } from "../../errors.ts";
import { decodeLogFilter, type LogFilter } from "../../logFilterParameter.ts";
import { LOGS_PER_ANSWER, logQueryAnswer } from "../../logQueryAnswer.ts";
import { defineMethod, type RawJson, required } from "../../method.ts";
import type { RpcBackend } from "../../ports.ts";
import { LOG_FILTER, listOf, OBJECT } from "../../schemas.ts";

export const ethGetLogs = defineMethod({
  name: "eth_getLogs",
  namespace: "ETH",
  summary: "Logs of a range of blocks, or of one block, by address and topics.",
  parameters: [required("filter", decodeLogFilter, LOG_FILTER)],
  result: { name: "logs", schema: listOf(OBJECT) },
  run([filter], { backend, isAbandoned }) {
    return filter.blockHash === undefined
      ? ofRange(backend, filter, isAbandoned)
      : logQueryAnswer(ofBlock(backend, filter, filter.blockHash));
  },
});

/** The range is judged as it was asked for, not as the head cuts it. */
async function ofRange(
  { chain, settings }: RpcBackend,
  filter: LogFilter,
  isAbandoned: () => boolean,
): Promise<RawJson | RpcError> {
  const range = { from: numberOf(chain, filter.from), to: numberOf(chain, filter.to) };
  if (range.from < 0n || range.to < 0n) return ERRORS.internalError;
  if (settings.maxLogsRange > 0n && range.to - range.from > settings.maxLogsRange)
    return ERRORS.rangeTooLarge;
  return logQueryAnswer(await queryLogs(chain, filter, range, { maxLogs: LOGS_PER_ANSWER, isAbandoned }));
}

function ofBlock({ chain }: RpcBackend, filter: LogFilter, blockHash: Hash): LogQueryResult {
  const logs: LocatedLog[] = [];
  const block = chain.blockByHash(blockHash);
  if (block !== undefined) createLogMatcher(filter).collect(block, logs);
  return { kind: "found", logs };
}
