import { keccak256 } from "../../primitives/hash.ts";
import { toHex } from "../../primitives/hex.ts";
import { quantityOrNull, toQuantity } from "../../primitives/quantity.ts";
import type { Transaction } from "../../types/transaction.ts";
import { encodeTransaction, type UnsignedTransaction } from "../../types/unsignedTransaction.ts";
import type { Json } from "../method.ts";

/** A filled transaction as go-ethereum shows it: its encoding, and its members, with zeros where the signature goes. */
export function unsignedTransactionJson(transaction: UnsignedTransaction): Json {
  const raw = encodeTransaction(transaction, NO_SIGNATURE);
  const { type, to, gasPrice, maxPriorityFeePerGas, maxFeePerGas } = transaction;
  return {
    raw: toHex(raw),
    tx: {
      type: toQuantity(type),
      chainId: toQuantity(transaction.chainId),
      nonce: toQuantity(transaction.nonce),
      to: to === undefined ? null : toHex(to),
      gas: toQuantity(transaction.gasLimit),
      gasPrice: quantityOrNull(gasPrice),
      maxPriorityFeePerGas: quantityOrNull(maxPriorityFeePerGas),
      maxFeePerGas: quantityOrNull(maxFeePerGas),
      value: toQuantity(transaction.value),
      input: toHex(transaction.data),
      ...(type !== 0 && { accessList: transaction.accessList.map(accessListEntryJson) }),
      ...(type === 4 && { authorizationList: transaction.authorizationList.map(authorizationJson) }),
      v: "0x0",
      r: "0x0",
      s: "0x0",
      ...(type !== 0 && { yParity: "0x0" }),
      hash: toHex(keccak256(raw)),
    },
  };
}

function accessListEntryJson({ address, storageKeys }: Transaction["accessList"][number]): Json {
  return { address: toHex(address), storageKeys: storageKeys.map(toHex) };
}

function authorizationJson(authorization: Transaction["authorizationList"][number]): Json {
  const { chainId, address, nonce, yParity, r, s } = authorization;
  return {
    chainId: toQuantity(chainId),
    address: toHex(address),
    nonce: toQuantity(nonce),
    yParity: toQuantity(yParity),
    r: toQuantity(r),
    s: toQuantity(s),
  };
}

const NO_SIGNATURE = { v: 0n, r: 0n, s: 0n };
