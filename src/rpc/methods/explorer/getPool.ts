import { toHex } from "../../../primitives/hex.ts";
import { bytesToBigint, quantityOrNull, toQuantity } from "../../../primitives/quantity.ts";
import type { WaitingItem } from "../../core/core.ts";
import { invalidParams } from "../../errors/errors.ts";
import { defineMethod, type Json, optional } from "../../method.ts";
import { decodeListPage, FIRST_PAGE } from "../../parameters/explorerParameters.ts";
import { LIST_PAGE, OBJECT } from "../../schemas.ts";

/** Length of a cursor: the order of arrival of a transaction. */
const CURSOR_BYTES = 6;

export const explorerGetPool = defineMethod({
  name: "explorer_getPool",
  namespace: "EXPLORER",
  summary: "The transactions that wait for a block, by their arrival, at which price and why.",
  parameters: [optional("page", decodeListPage, LIST_PAGE)],
  result: { name: "transactions", schema: OBJECT },
  ports: ["pool"],
  mayOverlap: "few",
  async run([{ size, order, cursor } = FIRST_PAGE], context) {
    if (cursor !== undefined && cursor.length !== CURSOR_BYTES)
      return invalidParams("the cursor is not one of this list");
    const after = cursor === undefined ? undefined : Number(bytesToBigint(cursor));
    const listing = await context.backend.pool.waiting({ order, after, limit: size }, context);
    const { next, pending, queued, floors } = listing;
    return {
      items: listing.items.map(itemOf),
      next: next === undefined ? null : `0x${next.toString(16).padStart(2 * CURSOR_BYTES, "0")}`,
      pending: toQuantity(pending),
      queued: toQuantity(queued),
      minGasPrice: toQuantity(floors.minGasPriceWei),
      minPriorityFee: toQuantity(floors.minPriorityFeeWei),
    };
  },
});

function itemOf(item: WaitingItem): Json {
  return {
    hash: toHex(item.hash),
    from: toHex(item.sender),
    to: item.to === undefined ? null : toHex(item.to),
    nonce: toQuantity(item.nonce),
    value: toQuantity(item.valueWei),
    gas: toQuantity(item.gasLimit),
    selector: toHex(item.selector),
    isLocal: item.isLocal,
    since: toQuantity(Math.floor(item.addedAtMs / 1000)),
    price: toQuantity(item.priceWei),
    maxPrice: toQuantity(item.feeCapWei),
    reason: item.reason,
    askedPrice: quantityOrNull(item.askedWei),
    nextNonce: toQuantity(item.nextNonce),
    cost: toQuantity(item.costWei),
    balance: toQuantity(item.balanceWei),
  };
}
