import type { Address } from "../../../primitives/address.ts";
import { equalBytes, toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { type StoredBlock, transactionAt } from "../../../types/block.ts";
import { createdAddress } from "../../../types/createdAddress.ts";
import type { Receipt } from "../../../types/receipt.ts";
import { effectiveGasPrice, type SentTransaction } from "../../../types/transaction.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, type Json, optional, required } from "../../method.ts";
import { ACTIVITY_FILTER, type ActivityFilter } from "../../parameters/activityFilter.ts";
import { decodeListPage, FIRST_PAGE } from "../../parameters/explorerParameters.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, LIST_PAGE, OBJECT } from "../../schemas.ts";
import { filteredPage } from "./filteredPages.ts";

export const explorerGetTransactionsOf = defineMethod({
  name: "explorer_getTransactionsOf",
  namespace: "EXPLORER",
  summary: "The transactions in which an account took part, internal calls included.",
  parameters: [
    required("account", decodeAddress, ADDRESS),
    optional("page", decodeListPage, LIST_PAGE),
    ACTIVITY_FILTER,
  ],
  result: { name: "transactions", schema: OBJECT },
  ports: ["chain", "accounts"],
  mayOverlap: "few",
  async run([account, page = FIRST_PAGE, filter = {}], { backend: { chain, accounts } }) {
    if (accounts === undefined) return ERRORS.accountIndexOff;
    return filteredPage(chain, accounts, {
      kind: "participation",
      subject: account,
      page,
      filter,
      isSelective: filter.direction !== undefined || filter.kind !== undefined,
      items(block, { position }) {
        const transaction = transactionAt(block, position);
        const receipt = block.receipts[position];
        if (transaction === undefined || receipt === undefined) return [];
        if (!passes(transaction, receipt, account, filter)) return [];
        return [itemOf(block, position, transaction, receipt)];
      },
    });
  },
});

function passes(
  transaction: SentTransaction,
  receipt: Receipt,
  account: Address,
  { direction, kind }: ActivityFilter,
): boolean {
  const { sender, to, nonce, data } = transaction;
  if (direction === "out" && !equalBytes(sender, account)) return false;
  if (direction === "in" && !equalBytes(to ?? createdAddress(sender, nonce), account)) return false;
  switch (kind) {
    case "payment":
      return to !== undefined && data.length === 0;
    case "call":
      return to !== undefined && data.length > 0;
    case "creation":
      return to === undefined;
    case "failed":
      return hasFailed(receipt);
    default:
      return true;
  }
}

/** Whether the transaction has failed; receipts of before Byzantium do not say so. */
function hasFailed({ outcome }: Receipt): boolean {
  return "status" in outcome && outcome.status === 0;
}

function itemOf(block: StoredBlock, position: number, transaction: SentTransaction, receipt: Receipt): Json {
  const { number, timestamp, baseFeePerGas } = block.header;
  const { hash, sender, to, nonce, value, data } = transaction;
  return {
    blockNumber: toQuantity(number),
    timestamp: toQuantity(timestamp),
    transactionHash: toHex(hash),
    transactionIndex: toQuantity(position),
    from: toHex(sender),
    to: to === undefined ? null : toHex(to),
    created: to === undefined ? toHex(createdAddress(sender, nonce)) : null,
    value: toQuantity(value),
    selector: toHex(data.slice(0, SELECTOR_BYTES)),
    hasFailed: hasFailed(receipt),
    gasUsed: toQuantity(receipt.gasUsed),
    fee: toQuantity(receipt.gasUsed * effectiveGasPrice(transaction, baseFeePerGas)),
  };
}

const SELECTOR_BYTES = 4;
