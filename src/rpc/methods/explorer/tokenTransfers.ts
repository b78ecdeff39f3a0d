import { type FoundPlace, transactionIndexOf } from "../../../accounts/indexReader.ts";
import type { Subject } from "../../../accounts/layout.ts";
import { type TokenTransfer, tokenTransferOf } from "../../../accounts/tokenTransfers.ts";
import { concatBytes, toHex } from "../../../primitives/hex.ts";
import { bytesToBigint, toQuantity } from "../../../primitives/quantity.ts";
import { type StoredBlock, transactionAt } from "../../../types/block.ts";
import { ERRORS, invalidParams } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, type Json, optional, required } from "../../method.ts";
import { decodeListPage, FIRST_PAGE, type ListPage, TOKEN_ID } from "../../parameters/explorerParameters.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { indexedBlocks } from "../../results/indexedBlocks.ts";
import { logsBeforeReceipt } from "../../results/receiptResult.ts";
import { ADDRESS, LIST_PAGE, OBJECT } from "../../schemas.ts";
import { pageAnswer, placesOnPage } from "./listPages.ts";

const PAGE = optional("page", decodeListPage, LIST_PAGE);
const RESULT = { name: "transfers", schema: OBJECT };

export const explorerGetTokenTransfers = defineMethod({
  name: "explorer_getTokenTransfers",
  namespace: "EXPLORER",
  summary: "Transfers of tokens into and out of an account.",
  parameters: [required("account", decodeAddress, ADDRESS), PAGE],
  result: RESULT,
  ports: ["chain", "accounts"],
  mayOverlap: "few",
  run: ([account, page], context) => transfers("accountTransfer", account, page, context),
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
): Promise<Answer> {
  if (accounts === undefined) return ERRORS.accountIndexOff;
  const found = await accounts.read(chain, (view) => placesOnPage(view, kind, subject, page));
  if (found === undefined) return invalidParams("the cursor is not one of this list");
  const items: Json[] = [];
  for await (const { block, places } of indexedBlocks(chain, found.found))
    for (const place of places) items.push(...transferJson(block, place));
  return pageAnswer(items, found);
}

/** The transfer that an entry of the index is about; undefined when a rewind has put another block in the place of its own. */
export function transferAt(block: StoredBlock, place: FoundPlace): TokenTransfer | undefined {
  const index = transactionIndexOf(place);
  const log = block.receipts[index]?.logs[place.position - logsBeforeReceipt(block, index)];
  return log && tokenTransferOf(log);
}

/** The transfer as a list of one item, or of none where it is gone. */
function transferJson(block: StoredBlock, place: FoundPlace): readonly Json[] {
  const transfer = transferAt(block, place);
  const index = transactionIndexOf(place);
  const transaction = transactionAt(block, index);
  if (transfer === undefined || transaction === undefined) return [];
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
