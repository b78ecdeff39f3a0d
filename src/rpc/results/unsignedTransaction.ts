import { keccak256 } from "../../primitives/hash.ts";
import { toHex } from "../../primitives/hex.ts";
import { bigintToBytes, quantityOrNull, toQuantity } from "../../primitives/quantity.ts";
import { encodeRlp, type RlpItem } from "../../primitives/rlp.ts";
import type { Transaction } from "../../types/transaction.ts";
import type { Json } from "../method.ts";

/** A transaction that nobody has signed, with every field that its type has. */
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

/** A filled transaction as go-ethereum shows it: its encoding, and its members, with zeros where the signature goes. */
export function unsignedTransactionJson(transaction: UnsignedTransaction): Json {
  const raw = encodeUnsigned(transaction);
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

function encodeUnsigned(transaction: UnsignedTransaction): Uint8Array {
  const { type, chainId, nonce, gasPrice, maxPriorityFeePerGas, maxFeePerGas, gasLimit } = transaction;
  const number = (value: bigint | undefined): Uint8Array => bigintToBytes(value ?? 0n);
  const prices = type >= 2 ? [maxPriorityFeePerGas, maxFeePerGas] : [gasPrice];
  const body: RlpItem[] = [
    number(nonce),
    ...prices.map(number),
    number(gasLimit),
    transaction.to ?? NOBODY,
    number(transaction.value),
    transaction.data,
  ];
  if (type === 0) return encodeRlp([...body, ...NO_SIGNATURE]);
  const accessList = transaction.accessList.map(({ address, storageKeys }) => [address, [...storageKeys]]);
  const authorizations = transaction.authorizationList.map(
    ({ chainId: chain, address, nonce: next, yParity, r, s }) => [
      number(chain),
      address,
      ...[next, yParity, r, s].map(number),
    ],
  );
  const rest = type === 4 ? [accessList, authorizations] : [accessList];
  const rlp = encodeRlp([number(chainId), ...body, ...rest, ...NO_SIGNATURE]);
  const typed = new Uint8Array(1 + rlp.length);
  typed[0] = type;
  typed.set(rlp, 1);
  return typed;
}

const NOBODY = new Uint8Array(0);
const NO_SIGNATURE: readonly RlpItem[] = [NOBODY, NOBODY, NOBODY];
