import { toHex } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { SentTransaction } from "../../types/transaction.ts";

/**
 * A pooled transaction as a subscription shows it: fewer members than eth_getTransactionByHash, without fee caps, and
 * members without a value are left out (json-rpc.md#eth_subscribe).
 */
export function pendingDetailJson(transaction: SentTransaction): string {
  const { type, to, yParity, v, gasPrice } = transaction;
  const price = gasPrice === undefined ? "" : `"gasPrice":"${toQuantity(gasPrice)}",`;
  const recipient = to === undefined ? "" : `"to":"${toHex(to)}",`;
  const parity = type === 0 ? "" : `"yParity":"0x${yParity}",`;
  const recovery = type === 3 ? "" : `"v":"${toQuantity(v)}",`;
  return (
    `{"from":"${toHex(transaction.sender)}","gas":"${toQuantity(transaction.gasLimit)}",${price}` +
    `"hash":"${toHex(transaction.hash)}","input":"${toHex(transaction.data)}",` +
    `"nonce":"${toQuantity(transaction.nonce)}",${recipient}"type":"0x${type}",` +
    `"value":"${toQuantity(transaction.value)}",${parity}${recovery}` +
    `"r":"${toQuantity(transaction.r)}","s":"${toQuantity(transaction.s)}"}`
  );
}
