import { type Address, asAddress } from "../primitives/address.ts";
import { asHash, type Hash, keccak256 } from "../primitives/hash.ts";
import { concatBytes, toHex } from "../primitives/hex.ts";
import { bigintToBytes, smaller } from "../primitives/quantity.ts";
import type { RecoveryItem } from "../primitives/recoveryBatch.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import { encodeRlpList, encodeRlpString, rlpPrefix, rlpStringSize } from "../primitives/rlp.ts";
import { recoverAddress, SECP256K1_ORDER, type Signature } from "../primitives/secp256k1.ts";
import {
  bytesAt,
  type Field,
  type Fields,
  fields,
  listBytes,
  listOf,
  NO_ENTRIES,
  scalar,
} from "./transactionFields.ts";

/** EIP-2718 type: 0 legacy, 1 access list (EIP-2930), 2 fee market (EIP-1559), 3 blob (EIP-4844), 4 set code (EIP-7702). */
export type TransactionType = 0 | 1 | 2 | 3 | 4;

export interface AccessListEntry {
  readonly address: Address;
  readonly storageKeys: readonly Hash[];
}

/** EIP-7702: makes the signer's account run the code of `address`. */
export interface Authorization {
  readonly chainId: bigint;
  readonly address: Address;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

/**
 * A decoded signed transaction. Prices and value in wei. `type` decides which optional fields are present: gasPrice for 0
 * and 1, the two fee caps from 2 on, access list from 1 on. `to` is absent for a creation.
 */
export interface Transaction {
  readonly type: TransactionType;
  /** Absent for a legacy transaction without replay protection (before EIP-155). */
  readonly chainId?: bigint;
  readonly nonce: bigint;
  readonly gasPrice?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly gasLimit: bigint;
  readonly to?: Address;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList: readonly AccessListEntry[];
  readonly maxFeePerBlobGas?: bigint;
  readonly blobVersionedHashes: readonly Hash[];
  readonly authorizationList: readonly Authorization[];
  /** v as encoded: 27/28 or chainId * 2 + 35/36 for legacy, the parity otherwise. */
  readonly v: bigint;
  readonly r: bigint;
  readonly s: bigint;
  readonly yParity: 0 | 1;
  /** Canonical encoding, as in block bodies and eth_sendRawTransaction: RLP for legacy, type byte and RLP otherwise. */
  readonly raw: Uint8Array;
  readonly hash: Hash;
}

/** A transaction whose signer is known. */
export interface SentTransaction extends Transaction {
  readonly sender: Address;
}

/** Looks up an already decoded transaction by hash, so that its bytes need not be decoded again. */
export type FindTransaction = (hash: Hash) => Transaction | undefined;

export type TransactionErrorCode = "malformedTransaction" | "unsupportedV" | "unknownTransactionType";

/** Decodes the canonical encoding, strictly; checks the signature's ranges, but does not recover its signer. */
export function decodeTransaction(bytes: Uint8Array): Result<Transaction, TransactionErrorCode> {
  const first = bytes[0];
  if (first === undefined) return malformed("no bytes");
  try {
    if (first >= 0xc0) return ok(decodeLegacy(bytes));
    if (first >= 1 && first <= 4) return ok(decodeTyped(first as TransactionType, bytes));
    if (first >= 0x80) return malformed("an RLP string where a transaction should be");
    return err({
      code: "unknownTransactionType",
      fault: "peer",
      message: `unknown transaction type 0x${first.toString(16)}`,
    });
  } catch (error) {
    if (error instanceof UnsupportedV)
      return err({ code: "unsupportedV", fault: "peer", message: error.message });
    return malformed(error instanceof Error ? error.message : "unreadable field");
  }
}

/** Like decodeTransaction, from a byte string in a block body, which contains a typed transaction. */
export function decodeBodyTransaction(bytes: Uint8Array): Result<Transaction, TransactionErrorCode> {
  return bytes[0] !== undefined && bytes[0] < 0x80
    ? decodeTransaction(bytes)
    : malformed("not a typed transaction");
}

/** RLP of a transaction in a block body: a legacy one is a list, a typed one is a byte string. */
export function encodeBodyTransaction(transaction: Transaction): Uint8Array {
  return transaction.type === 0 ? transaction.raw : encodeRlpString(transaction.raw);
}

/** Like encodeBodyTransaction, from the canonical encoding: a legacy transaction's is a list. */
export function encodeRawBodyTransaction(raw: Uint8Array): Uint8Array {
  return (raw[0] ?? 0) >= 0xc0 ? raw : encodeRlpString(raw);
}

/** Length in bytes of encodeBodyTransaction's result. */
export function bodyTransactionSize({ type, raw }: Transaction): number {
  return type === 0 ? raw.length : rlpStringSize(raw);
}

/**
 * The hash that the sender signed. It covers the fields without the signature, which are the bytes before the last three
 * items, so nothing is decoded again. A protected legacy transaction appends chain id and two empty items (EIP-155).
 */
export function signingHash(transaction: Transaction): Hash {
  const { raw, type } = transaction;
  const listAt = type === 0 ? 0 : 1;
  const lead = raw[listAt] ?? 0;
  const firstField = listAt + 1 + (lead >= 0xf8 ? lead - 0xf7 : 0);
  const { v, r, s } = transaction;
  const signatureLength = scalarLength(v) + scalarLength(r) + scalarLength(s);
  const unsigned = raw.subarray(firstField, raw.length - signatureLength);
  if (type !== 0)
    return keccak256(concatBytes(Uint8Array.of(type), rlpPrefix(unsigned.length, 0xc0), unsigned));
  if (transaction.chainId === undefined) return keccak256(encodeRlpList([unsigned]));
  const chainId = encodeRlpString(bigintToBytes(transaction.chainId));
  return keccak256(encodeRlpList([unsigned, chainId, Uint8Array.of(0x80, 0x80)]));
}

/** RLP length in bytes of a scalar of at most 55 bytes. */
function scalarLength(value: bigint): number {
  return value < 0x80n ? 1 : 1 + Math.ceil(value.toString(16).length / 2);
}

export function signatureOf(transaction: Transaction): Signature {
  return { r: transaction.r, s: transaction.s, yParity: transaction.yParity };
}

/** The input of signature recovery on worker threads (recoveryPool.ts). */
export function recoveryItemOf(transaction: Transaction): RecoveryItem {
  return { digest: signingHash(transaction), signature: signatureOf(transaction) };
}

/** True when s is in the lower half of the order, as EIP-2 requires since Homestead. */
export function hasLowS(transaction: Transaction): boolean {
  return transaction.s <= SECP256K1_ORDER / 2n;
}

/** The transaction with its signer, recovered on this thread; undefined when no key can be recovered. */
export function withRecoveredSender(transaction: Transaction): SentTransaction | undefined {
  const sender = recoverAddress(signingHash(transaction), signatureOf(transaction));
  return sender === undefined ? undefined : withSender(transaction, sender);
}

export function withSender(transaction: Transaction, sender: Address): SentTransaction {
  return { ...transaction, sender };
}

/** The price fields of a transaction or simulated call. */
export interface FeeFields {
  readonly gasPrice?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
}

/** The maximum that the sender pays, wei per gas: gasPrice, or maxFeePerGas from EIP-1559 on. */
export function feeCap(transaction: FeeFields): bigint {
  return transaction.maxFeePerGas ?? transaction.gasPrice ?? 0n;
}

/** The price in a block with this base fee, wei per gas (EIP-1559); below the base fee when the cap is. */
export function effectiveGasPrice(transaction: FeeFields, baseFeePerGas: bigint | undefined): bigint {
  if (transaction.maxFeePerGas === undefined) return transaction.gasPrice ?? 0n;
  const offered = (transaction.maxPriorityFeePerGas ?? 0n) + (baseFeePerGas ?? 0n);
  return smaller(offered, transaction.maxFeePerGas);
}

/** The part of the effective price that goes to the beneficiary, wei per gas; negative when the cap is below the base fee. */
export function effectivePriorityFee(transaction: FeeFields, baseFeePerGas: bigint | undefined): bigint {
  return effectiveGasPrice(transaction, baseFeePerGas) - (baseFeePerGas ?? 0n);
}

/** For a v that is neither 27 nor 28 nor valid under EIP-155; the message is Besu's. */
class UnsupportedV extends RangeError {
  constructor(v: bigint) {
    super(`An unsupported encoded \`v\` value of ${v} was found`);
  }
}

function decodeLegacy(bytes: Uint8Array): Transaction {
  const f = fields(bytes, 9, "a transaction of this type");
  const v = scalar(f, 6);
  if (v !== 27n && v !== 28n && v < 35n) throw new UnsupportedV(v);
  const isProtected = v >= 35n;
  return {
    type: 0,
    ...(isProtected && { chainId: (v - 35n) / 2n }),
    nonce: scalar(f, 0, 8),
    gasPrice: scalar(f, 1),
    gasLimit: scalar(f, 2, 8),
    ...recipient(f, 3),
    value: scalar(f, 4),
    data: bytesAt(f, 5),
    accessList: NO_ENTRIES,
    blobVersionedHashes: NO_ENTRIES,
    authorizationList: NO_ENTRIES,
    v,
    ...signatureScalars(f, 7),
    yParity: (isProtected ? v - 35n : v - 27n) % 2n === 0n ? 0 : 1,
    raw: bytes,
    hash: keccak256(bytes),
  };
}

function decodeTyped(type: TransactionType, bytes: Uint8Array): Transaction {
  const count = type === 1 ? 11 : type === 2 ? 12 : type === 3 ? 14 : 13;
  const f = fields(bytes.subarray(1), count, "a transaction of this type");
  const isFeeMarket = type >= 2;
  const afterNonce = isFeeMarket ? 4 : 3;
  const accessListAt = afterNonce + 4;
  const vAt = f.length - 3;
  const v = scalar(f, vAt);
  if (v > 1n) throw new RangeError(`the parity cannot be ${v}`);
  const to = recipient(f, afterNonce + 1);
  if (type >= 3 && to.to === undefined)
    throw new RangeError("a blob or set-code transaction needs a recipient");
  return {
    type,
    chainId: scalar(f, 0),
    nonce: scalar(f, 1, 8),
    ...(isFeeMarket
      ? { maxPriorityFeePerGas: scalar(f, 2), maxFeePerGas: scalar(f, 3) }
      : { gasPrice: scalar(f, 2) }),
    gasLimit: scalar(f, afterNonce, 8),
    ...to,
    value: scalar(f, afterNonce + 2),
    data: bytesAt(f, afterNonce + 3),
    accessList: accessList(f[accessListAt]),
    ...(type === 3 && { maxFeePerBlobGas: scalar(f, 9) }),
    blobVersionedHashes: type === 3 ? hashes(f[10]) : NO_ENTRIES,
    authorizationList: type === 4 ? authorizations(f[9]) : NO_ENTRIES,
    v,
    ...signatureScalars(f, vAt + 1),
    yParity: v === 0n ? 0 : 1,
    raw: bytes,
    hash: keccak256(bytes),
  };
}

function recipient(items: Fields, index: number): { readonly to?: Address } {
  const bytes = bytesAt(items, index);
  return bytes.length === 0 ? {} : { to: asAddress(bytes) };
}

function signatureScalars(items: Fields, rAt: number): { readonly r: bigint; readonly s: bigint } {
  const r = scalar(items, rAt);
  const s = scalar(items, rAt + 1);
  if (r === 0n || r >= SECP256K1_ORDER || s === 0n || s >= SECP256K1_ORDER) {
    throw new RangeError("r and s lie between 1 and the order of the curve");
  }
  return { r, s };
}

function accessList(field: Field | undefined): readonly AccessListEntry[] {
  return listOf(field, "the access list", ([entry]) => {
    const pair = fields(listBytes(entry, "an access list entry"), 2, "an access list entry");
    return { address: asAddress(bytesAt(pair, 0)), storageKeys: hashes(pair[1]) };
  });
}

function hashes(field: Field | undefined): readonly Hash[] {
  return listOf(field, "a list of hashes", (member) => asHash(bytesAt(member, 0)));
}

function authorizations(field: Field | undefined): readonly Authorization[] {
  return listOf(field, "the authorization list", ([entry]) => {
    const f = fields(listBytes(entry, "an authorization"), 6, "an authorization");
    return {
      chainId: scalar(f, 0),
      address: asAddress(bytesAt(f, 1)),
      nonce: scalar(f, 2, 8),
      yParity: scalar(f, 3, 1),
      r: scalar(f, 4),
      s: scalar(f, 5),
    };
  });
}

function malformed(message: string): Result<Transaction, TransactionErrorCode> {
  return err({ code: "malformedTransaction", fault: "peer", message });
}

/** For log lines and messages. */
export function nameOfTransaction(transaction: Transaction): string {
  return toHex(transaction.hash);
}
