import { equalBytes, toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { type StoredBlock, transactionAt } from "../../../types/block.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, type Json, optional, required } from "../../method.ts";
import { ACTIVITY_FILTER } from "../../parameters/activityFilter.ts";
import { decodeListPage, FIRST_PAGE } from "../../parameters/explorerParameters.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { logsBeforeReceipt } from "../../results/receiptResult.ts";
import { ADDRESS, LIST_PAGE, OBJECT } from "../../schemas.ts";
import { filteredPage } from "./filteredPages.ts";

/** Most logs of one transaction, and most bytes of the data of each. */
const MOST_LOGS = 100;
const MOST_BYTES = 1_024;

export const explorerGetLogsOf = defineMethod({
  name: "explorer_getLogsOf",
  namespace: "EXPLORER",
  summary: "The logs that a contract emitted, by the transactions in which it took part.",
  parameters: [
    required("contract", decodeAddress, ADDRESS),
    optional("page", decodeListPage, LIST_PAGE),
    ACTIVITY_FILTER,
  ],
  result: { name: "logs", schema: OBJECT },
  ports: ["chain", "accounts"],
  mayOverlap: "few",
  async run([contract, page = FIRST_PAGE, filter = {}], { backend: { chain, accounts } }) {
    if (accounts === undefined) return ERRORS.accountIndexOff;
    return filteredPage(chain, accounts, {
      kind: "participation",
      subject: contract,
      page,
      filter,
      isSelective: true,
      items: (block, { position }) => logsOf(block, position, contract),
    });
  },
});

function logsOf(block: StoredBlock, position: number, contract: Uint8Array): readonly Json[] {
  const transaction = transactionAt(block, position);
  const receipt = block.receipts[position];
  if (transaction === undefined || receipt === undefined) return [];
  const { number, timestamp } = block.header;
  const before = logsBeforeReceipt(block, position);
  return receipt.logs
    .flatMap((log, index) => (equalBytes(log.address, contract) ? [{ log, index }] : []))
    .slice(0, MOST_LOGS)
    .map(({ log, index }) => ({
      blockNumber: toQuantity(number),
      timestamp: toQuantity(timestamp),
      transactionHash: toHex(transaction.hash),
      logIndex: toQuantity(before + index),
      topics: log.topics.map(toHex),
      data: toHex(log.data.subarray(0, MOST_BYTES)),
      isCut: log.data.length > MOST_BYTES,
    }));
}
