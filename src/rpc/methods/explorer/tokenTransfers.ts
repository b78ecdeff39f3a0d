import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type FoundPlace, transactionIndexOf } from "../../../accounts/indexReader.ts";
import { type TokenTransfer, tokenTransferOf } from "../../../accounts/tokenTransfers.ts";
import type { ChainReader } from "../../../chain/chain.ts";
import type { Address } from "../../../primitives/address.ts";
import { expectDefined } from "../../../primitives/assert.ts";
import { toHex } from "../../../primitives/hex.ts";
import { bytesToBigint, toQuantity } from "../../../primitives/quantity.ts";
import type { StoredBlock } from "../../../types/block.ts";
import { ERRORS } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, type Json, optional, required } from "../../method.ts";
import { decodeListPage, FIRST_PAGE, type ListPage } from "../../parameters/explorerParameters.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
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
  summary: "All transfers of a token.",
  parameters: [required("token", decodeAddress, ADDRESS), PAGE],
  result: RESULT,
  ports: ["chain", "accounts"],
  mayOverlap: "few",
  run: ([token, page], context) => transfers("tokenTransfer", token, page, context),
});

async function transfers(
  kind: "accountTransfer" | "tokenTransfer",
  address: Address,
  page: ListPage = FIRST_PAGE,
  { backend: { chain, accounts } }: ContextOf<"chain" | "accounts">,
): Promise<Answer> {
  if (accounts === undefined) return ERRORS.accountIndexOff;
  const found = await accounts.read(chain, (view) => placesOnPage(view, kind, address, page));
  if (found === undefined) return ERRORS.invalidParams;
  const items: Json[] = [];
  let block: StoredBlock | undefined;
  for (const place of found.found) {
    if (block === undefined || block.header.number !== BigInt(place.block)) {
      if (block !== undefined) await yieldToEventLoop();
      block = blockAt(chain, place.block);
    }
    items.push(transferJson(block, place));
  }
  return pageAnswer(items, found);
}

/** The transfer that an entry of the index is about. */
export function transferAt(block: StoredBlock, place: FoundPlace): TokenTransfer {
  const index = transactionIndexOf(place);
  let logsBefore = 0;
  for (let before = 0; before < index; before++) logsBefore += block.receipts[before]?.logs.length ?? 0;
  const log = expectDefined(
    block.receipts[index]?.logs[place.position - logsBefore],
    "the log of a transfer",
  );
  return expectDefined(tokenTransferOf(log), "the transfer that was indexed");
}

export function blockAt(chain: Pick<ChainReader, "blockByNumber">, number: number): StoredBlock {
  return expectDefined(chain.blockByNumber(BigInt(number)), "a block that the index has");
}

function transferJson(block: StoredBlock, place: FoundPlace): Json {
  const { token, standard, from, to, operator, amounts, isCut } = transferAt(block, place);
  const index = transactionIndexOf(place);
  const { number, timestamp } = block.header;
  return {
    blockNumber: toQuantity(number),
    timestamp: toQuantity(timestamp),
    transactionHash: toHex(expectDefined(block.transactions[index], "the transaction of a transfer").hash),
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
}
