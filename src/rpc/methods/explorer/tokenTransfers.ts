import { type FoundPlace, transactionIndexOf } from "../../../accounts/indexReader.ts";
import type { Subject } from "../../../accounts/layout.ts";
import { type TokenTransfer, tokenTransferOf } from "../../../accounts/tokenTransfers.ts";
import { concatBytes, equalBytes, toHex } from "../../../primitives/hex.ts";
import { bytesToBigint, toQuantity } from "../../../primitives/quantity.ts";
import { type StoredBlock, transactionAt } from "../../../types/block.ts";
import { ERRORS } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, type Json, optional, required } from "../../method.ts";
import { ACTIVITY_FILTER, type ActivityFilter } from "../../parameters/activityFilter.ts";
import { decodeListPage, FIRST_PAGE, type ListPage, TOKEN_ID } from "../../parameters/explorerParameters.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { logsBeforeReceipt } from "../../results/receiptResult.ts";
import { ADDRESS, LIST_PAGE, OBJECT } from "../../schemas.ts";
import { filteredPage } from "./filteredPages.ts";

const PAGE = optional("page", decodeListPage, LIST_PAGE);
const RESULT = { name: "transfers", schema: OBJECT };

export const explorerGetTokenTransfers = defineMethod({
  name: "explorer_getTokenTransfers",
  namespace: "EXPLORER",
  summary: "Transfers of tokens into and out of an account.",
  parameters: [required("account", decodeAddress, ADDRESS), PAGE, ACTIVITY_FILTER],
  result: RESULT,
  ports: ["chain", "accounts"],
  mayOverlap: "few",
  run: ([account, page, filter], context) => transfers("accountTransfer", account, page, context, filter),
});

export const explorerGetTransfersOfToken = defineMethod({
  name: "explorer_getTransfersOfToken",
  namespace: "EXPLORER",
  summary: "All transfers of a token, or of one of its ids.",
  parameters: [required("token", decodeAddress, ADDRESS), PAGE, TOKEN_ID],
  result: RESULT,
  ports: ["chain", "accounts"],
  mayOverlap: "few",
  run: ([token, page, tokenId], context) =>
    tokenId === undefined
      ? transfers("tokenTransfer", token, page, context)
      : transfers("idTransfer", concatBytes(token, tokenId), page, context),
});

async function transfers(
  kind: "accountTransfer" | "tokenTransfer" | "idTransfer",
  subject: Subject,
  page: ListPage = FIRST_PAGE,
  { backend: { chain, accounts } }: ContextOf<"chain" | "accounts">,
  filter: ActivityFilter = {},
): Promise<Answer> {
  if (accounts === undefined) return ERRORS.accountIndexOff;
  const { direction, token } = filter;
  return filteredPage(chain, accounts, {
    kind,
    subject,
    page,
    filter,
    isSelective: direction !== undefined || token !== undefined,
    items(block, place) {
      const transfer = transferAt(block, place);
      if (transfer === undefined) return [];
      if (token !== undefined && !equalBytes(transfer.token, token)) return [];
      const party = direction === "in" ? transfer.to : transfer.from;
      if (direction !== undefined && !equalBytes(party, subject)) return [];
      return transferJson(block, place, transfer);
    },
  });
}

/** The transfer that an entry of the index is about; undefined when a rewind has put another block in the place of its own. */
export function transferAt(block: StoredBlock, place: FoundPlace): TokenTransfer | undefined {
  const index = transactionIndexOf(place);
  const log = block.receipts[index]?.logs[place.position - logsBeforeReceipt(block, index)];
  return log && tokenTransferOf(log);
}

/** The transfer as a list of one item, or of none where its transaction is gone. */
function transferJson(block: StoredBlock, place: FoundPlace, transfer: TokenTransfer): readonly Json[] {
  const index = transactionIndexOf(place);
  const transaction = transactionAt(block, index);
  if (transaction === undefined) return [];
  const { token, standard, from, to, operator, amounts, isCut } = transfer;
  const { number, timestamp } = block.header;
  const item = {
    blockNumber: toQuantity(number),
    timestamp: toQuantity(timestamp),
    transactionHash: toHex(transaction.hash),
    transactionIndex: toQuantity(index),
    logIndex: toQuantity(place.position),
    token: toHex(token),
    standard,
    from: toHex(from),
    to: toHex(to),
    operator: operator === undefined ? null : toHex(operator),
    amounts: amounts.map(({ tokenId, value }) => ({
      tokenId: tokenId === undefined ? null : toQuantity(bytesToBigint(tokenId)),
      value: toQuantity(value),
    })),
    isCut,
  };
  return [item];
}
