import { ERRORS, RpcError } from "../../errors/errors.ts";
import { FILTER_LIMIT } from "../../filters/filterTable.ts";
import { packLogFilter } from "../../filters/packedLogFilter.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeLogFilter } from "../../parameters/logFilterParameter.ts";
import { decodeText } from "../../parameters/parameters.ts";
import { logQueryAnswer } from "../../results/logQueryAnswer.ts";
import { BOOLEAN, LOG_FILTER, listOf, OBJECT, QUANTITY } from "../../schemas.ts";

/** Methods that install and poll filters (json-rpc.md#filters). */

const TOO_MANY_FILTERS = new RpcError(
  -32005,
  `Too many filters are installed: all callers together can have ${FILTER_LIMIT}, one address half of what the others leave. Try again later.`,
);
const ID = required("id", decodeText, QUANTITY);
const ID_RESULT = { name: "id", schema: QUANTITY };

export const ethNewFilter = defineMethod({
  name: "eth_newFilter",
  namespace: "ETH",
  summary: "Installs a filter for logs. Its changes cover only future blocks.",
  parameters: [required("filter", decodeLogFilter, LOG_FILTER)],
  result: ID_RESULT,
  ports: ["filters"],
  mayOverlap: "many",
  run: async ([filter], context) =>
    (await context.backend.filters.addLogs(packLogFilter(filter), context)) ?? TOO_MANY_FILTERS,
});

export const ethNewBlockFilter = defineMethod({
  name: "eth_newBlockFilter",
  namespace: "ETH",
  summary: "Installs a filter for the hashes of new blocks.",
  parameters: [],
  result: ID_RESULT,
  ports: ["filters"],
  mayOverlap: "many",
  run: async (_, context) => (await context.backend.filters.addBlocks(context)) ?? TOO_MANY_FILTERS,
});

export const ethNewPendingTransactionFilter = defineMethod({
  name: "eth_newPendingTransactionFilter",
  namespace: "ETH",
  summary: "Installs a filter for the hashes of transactions that enter the pool.",
  parameters: [],
  result: ID_RESULT,
  ports: ["filters"],
  mayOverlap: "many",
  run: async (_, context) => (await context.backend.filters.addPending(context)) ?? TOO_MANY_FILTERS,
});

export const ethGetFilterChanges = defineMethod({
  name: "eth_getFilterChanges",
  namespace: "ETH",
  summary: "What a filter has seen since the last poll.",
  parameters: [ID],
  result: { name: "changes", schema: listOf({}) },
  ports: ["filters"],
  mayOverlap: "few",
  async run([id], context) {
    const changes = await context.backend.filters.changes(id, context);
    return changes === undefined ? ERRORS.filterNotFound : logQueryAnswer(changes);
  },
});

export const ethGetFilterLogs = defineMethod({
  name: "eth_getFilterLogs",
  namespace: "ETH",
  summary: "All logs in the range of a log filter.",
  parameters: [ID],
  result: { name: "logs", schema: listOf(OBJECT) },
  ports: ["filters"],
  mayOverlap: "few",
  async run([id], context) {
    const result = await context.backend.filters.logs(id, context);
    return result === undefined ? ERRORS.logsFilterNotFound : logQueryAnswer(result);
  },
});

export const ethUninstallFilter = defineMethod({
  name: "eth_uninstallFilter",
  namespace: "ETH",
  summary: "Removes a filter; false when it does not exist.",
  parameters: [ID],
  result: { name: "isRemoved", schema: BOOLEAN },
  ports: ["filters"],
  mayOverlap: "many",
  run: ([id], context) => context.backend.filters.remove(id, context),
});
