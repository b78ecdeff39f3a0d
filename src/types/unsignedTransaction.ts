import { keccak256 } from "../primitives/hash.ts";
import { concatBytes, EMPTY_BYTES } from "../primitives/hex.ts";
import { bigintToBytes } from "../primitives/quantity.ts";
import { encodeRlp, type RlpItem } from "../primitives/rlp.ts";
import { sign } from "../primitives/secp256k1.ts";
import type { Transaction } from "./transaction.ts";

/** A transaction that nobody has signed, with every field that its type has. A legacy one has replay protection (EIP-155). */
export type UnsignedTransaction = Pick<
  Transaction,
  | "nonce"
  | "gasPrice"
  | "maxPriorityFeePerGas"
  | "maxFeePerGas"
  | "gasLimit"
  | "to"
  | "value"
  | "data"
  | "accessList"
  | "authorizationList"
> & { readonly type: 0 | 1 | 2 | 4; readonly chainId: bigint };

/** The last three fields of a transaction. */
type SignatureFields = Pick<Transaction, "v" | "r" | "s">;

/** The canonical encoding of the transaction with these fields as its signature, whether or not they are one. */
export function encodeTransaction(
  transaction: UnsignedTransaction,
  { v, r, s }: SignatureFields,
): Uint8Array {
  return typed(transaction, [...fieldsOf(transaction), ...[v, r, s].map(bigintToBytes)]);
}

/** The canonical encoding of the transaction, signed with the key. */
export function signTransaction(transaction: UnsignedTransaction, privateKey: Uint8Array): Uint8Array {
  const { type, chainId } = transaction;
  const protection = type === 0 ? [bigintToBytes(chainId), EMPTY_BYTES, EMPTY_BYTES] : [];
  const digest = keccak256(typed(transaction, [...fieldsOf(transaction), ...protection]));
  const { r, s, yParity } = sign(digest, privateKey);
  return encodeTransaction(transaction, { v: encodedV(transaction, yParity), r, s });
}

/** The field v of a signature with this parity. */
export function encodedV(
  { type, chainId }: Pick<UnsignedTransaction, "type" | "chainId">,
  yParity: 0 | 1,
): bigint {
  return type === 0 ? 2n * chainId + 35n + BigInt(yParity) : BigInt(yParity);
}

function fieldsOf(transaction: UnsignedTransaction): readonly RlpItem[] {
  const { type, to, data, gasPrice, maxPriorityFeePerGas, maxFeePerGas } = transaction;
  const prices = type >= 2 ? [maxPriorityFeePerGas, maxFeePerGas] : [gasPrice];
  const numbers = [transaction.nonce, ...prices, transaction.gasLimit].map((number) =>
    bigintToBytes(number ?? 0n),
  );
  const fields = [...numbers, to ?? EMPTY_BYTES, bigintToBytes(transaction.value), data];
  if (type === 0) return fields;
  const accessList = transaction.accessList.map(({ address, storageKeys }) => [address, storageKeys]);
  const authorizations = transaction.authorizationList.map(({ chainId, address, nonce, yParity, r, s }) => [
    bigintToBytes(chainId),
    address,
    ...[nonce, yParity, r, s].map(bigintToBytes),
  ]);
  const lists = type === 4 ? [accessList, authorizations] : [accessList];
  return [bigintToBytes(transaction.chainId), ...fields, ...lists];
}

function typed({ type }: Pick<UnsignedTransaction, "type">, fields: readonly RlpItem[]): Uint8Array {
  const rlp = encodeRlp(fields);
  return type === 0 ? rlp : concatBytes(Uint8Array.of(type), rlp);
}
