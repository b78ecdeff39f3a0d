import { type Address, asAddress } from "../primitives/address.ts";
import { asHash, type Hash, keccak256 } from "../primitives/hash.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";
import { bigintToFixedBytes, smaller } from "../primitives/quantity.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { encodeRlpString, rlpPrefix, rlpStringSize } from "../primitives/rlp.ts";
import { SECP256K1_ORDER } from "../primitives/secp256k1.ts";
import { FieldReader, NO_ENTRIES } from "./transactionFields.ts";

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
  readonly chainId?: bigint | undefined;
  readonly nonce: bigint;
  readonly gasPrice?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
  readonly gasLimit: bigint;
  readonly to?: Address | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList: readonly AccessListEntry[];
  readonly maxFeePerBlobGas?: bigint | undefined;
  readonly blobVersionedHashes: readonly Hash[];
  readonly authorizationList: readonly Authorization[];
  /** v as encoded: 27/28 or chainId * 2 + 35/36 for legacy, the parity otherwise. */
  readonly v: bigint;
  readonly r: bigint;
  readonly s: bigint;
  readonly yParity: 0 | 1;
  /** True when s is in the lower half of the curve's order, as EIP-2 requires since Homestead. */
  readonly hasLowS: boolean;
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

/**
 * Decodes the canonical encoding, strictly; checks the signature's ranges, but does not recover its signer. `hash` is that of the
 * bytes, where another thread has decoded them already: to hash them takes half as long as to decode them.
 */
export function decodeTransaction(bytes: Uint8Array, hash?: Hash): Result<Transaction, TransactionErrorCode> {
  const first = bytes[0];
  if (first === undefined) return fail("peer", "malformedTransaction", "no bytes");
  try {
    if (first >= 0xc0) return ok(new DecodedTransaction(0, bytes, hash));
    if (first >= 1 && first <= 4) return ok(new DecodedTransaction(first as TransactionType, bytes, hash));
    if (first >= 0x80)
      return fail("peer", "malformedTransaction", "an RLP string where a transaction should be");
    return fail("peer", "unknownTransactionType", `unknown transaction type 0x${first.toString(16)}`);
  } catch (error) {
    if (error instanceof UnsupportedV) return fail("peer", "unsupportedV", error.message);
    return fail("peer", "malformedTransaction", error instanceof Error ? error.message : "unreadable field");
  }
}

/** Like decodeTransaction, from a byte string in a block body, which contains a typed transaction. */
export function decodeBodyTransaction(bytes: Uint8Array): Result<Transaction, TransactionErrorCode> {
  return bytes[0] !== undefined && bytes[0] < 0x80
    ? decodeTransaction(bytes)
    : fail("peer", "malformedTransaction", "not a typed transaction");
}

/** RLP of a transaction in a block body: a legacy one is a list, a typed one is a byte string. */
export function encodeBodyTransaction(transaction: Transaction): Uint8Array {
  return transaction.type === 0 ? transaction.raw : encodeRlpString(transaction.raw);
}

/** The parts of encodeBodyTransaction's result, from the canonical encoding and without a copy: a legacy one is a list. */
export function bodyTransactionParts(raw: Uint8Array): Uint8Array[] {
  return (raw[0] ?? 0) >= 0xc0 ? [raw] : [rlpPrefix(raw.length, 0x80), raw];
}

/** Length in bytes of encodeBodyTransaction's result. */
export function bodyTransactionSize({ type, raw }: Transaction): number {
  return type === 0 ? raw.length : rlpStringSize(raw);
}

/**
 * The transaction with its signer. A decoded one is the same object, because the signature that its hash covers has one signer
 * only, and copies would be a fifth of what a pooled transaction takes.
 */
export function withSender(transaction: Transaction, sender: Address): SentTransaction {
  if (transaction instanceof DecodedTransaction && transaction.isSentBy(sender)) return transaction;
  const { v, r, s } = transaction;
  return { ...transaction, v, r, s, sender };
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

/** A v that is neither 27 nor 28 nor valid under EIP-155; the message is Besu's. */
class UnsupportedV extends RangeError {
  constructor(v: bigint) {
    super(`An unsupported encoded \`v\` value of ${v} was found`);
  }
}

/**
 * A transaction read from its bytes. One class for all types makes every use of it fast. The signature is read from the
 * bytes on request: few callers need it as numbers, and tens of thousands of transactions are kept.
 */
class DecodedTransaction implements Transaction {
  readonly type: TransactionType;
  readonly chainId: bigint | undefined;
  readonly nonce: bigint;
  readonly gasPrice: bigint | undefined;
  readonly maxPriorityFeePerGas: bigint | undefined;
  readonly maxFeePerGas: bigint | undefined;
  readonly gasLimit: bigint;
  readonly to: Address | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  readonly accessList: readonly AccessListEntry[];
  readonly maxFeePerBlobGas: bigint | undefined;
  readonly blobVersionedHashes: readonly Hash[];
  readonly authorizationList: readonly Authorization[];
  readonly yParity: 0 | 1;
  readonly hasLowS: boolean;
  readonly raw: Uint8Array;
  readonly hash: Hash;
  /** Position of v in the bytes. */
  readonly signatureAt: number;
  /** Undefined until it is known. */
  sender: Address | undefined;

  constructor(type: TransactionType, raw: Uint8Array, hash: Hash | undefined) {
    const isFeeMarket = type >= 2;
    const fields = new FieldReader(raw, type === 0 ? 0 : 1);
    const chainId = type === 0 ? undefined : fields.scalar();
    this.type = type;
    this.nonce = fields.scalar(8);
    const price = fields.scalar();
    this.gasPrice = isFeeMarket ? undefined : price;
    this.maxPriorityFeePerGas = isFeeMarket ? price : undefined;
    this.maxFeePerGas = isFeeMarket ? fields.scalar() : undefined;
    this.gasLimit = fields.scalar(8);
    const to = fields.string();
    if (type >= 3 && to.length === 0)
      throw new RangeError("a blob or set-code transaction needs a recipient");
    this.to = to.length === 0 ? undefined : asAddress(to);
    this.value = fields.scalar();
    this.data = fields.string();
    this.accessList = type === 0 ? NO_ENTRIES : fields.listOf(accessListEntry);
    this.maxFeePerBlobGas = type === 3 ? fields.scalar() : undefined;
    this.blobVersionedHashes = type === 3 ? fields.listOf(hashAt) : NO_ENTRIES;
    this.authorizationList = type === 4 ? fields.listOf(authorization) : NO_ENTRIES;
    this.signatureAt = fields.position;
    const v = fields.scalar();
    // The v is read before r and s: a transaction without a signature, all zeros, is refused for its v.
    this.yParity = parityOf(type, v);
    fields.passScalarBelow(ORDER, ORDER);
    this.hasLowS = fields.passScalarBelow(ORDER, UPPER_HALF);
    fields.end();
    this.chainId = type === 0 && v >= 35n ? (v - 35n) / 2n : chainId;
    this.raw = raw;
    this.hash = hash ?? keccak256(raw);
    this.sender = undefined;
  }

  get v(): bigint {
    return signatureFields(this).scalar();
  }

  get r(): bigint {
    const fields = signatureFields(this);
    fields.skip(1);
    return fields.scalar();
  }

  get s(): bigint {
    const fields = signatureFields(this);
    fields.skip(2);
    return fields.scalar();
  }

  /** Keeps the sender; false when it differs from the one known before. */
  isSentBy(sender: Address): this is SentTransaction {
    this.sender ??= sender;
    return equalBytes(this.sender, sender);
  }
}

/** A reader of the three fields of the signature: v, r and s. */
export function signatureFields(transaction: Pick<Transaction, "type" | "raw">): FieldReader {
  const { type, raw } = transaction;
  const fields = new FieldReader(raw, type === 0 ? 0 : 1);
  if (transaction instanceof DecodedTransaction) fields.goTo(transaction.signatureAt);
  else fields.skip(FIELDS_BEFORE_SIGNATURE[type]);
  return fields;
}

/** r and s as big-endian bytes, which are shown in half the time that the numbers take. */
export function signatureScalars(
  transaction: Pick<Transaction, "type" | "raw">,
): Record<"r" | "s", Uint8Array> {
  const fields = signatureFields(transaction);
  fields.skip(1);
  return { r: fields.string(), s: fields.string() };
}

const FIELDS_BEFORE_SIGNATURE: Readonly<Record<TransactionType, number>> = { 0: 6, 1: 8, 2: 9, 3: 11, 4: 10 };

function parityOf(type: TransactionType, v: bigint): 0 | 1 {
  if (type === 0) {
    if (v !== 27n && v !== 28n && v < 35n) throw new UnsupportedV(v);
    return (v & 1n) === 1n ? 0 : 1;
  }
  if (v > 1n) throw new RangeError(`the parity cannot be ${v}`);
  return v === 0n ? 0 : 1;
}

const ORDER = bigintToFixedBytes(SECP256K1_ORDER, 32);
/** The lowest number that is above half of the order. */
const UPPER_HALF = bigintToFixedBytes(SECP256K1_ORDER / 2n + 1n, 32);

function accessListEntry(list: FieldReader): AccessListEntry {
  return list.group((entry) => ({ address: asAddress(entry.string()), storageKeys: entry.listOf(hashAt) }));
}

function hashAt(list: FieldReader): Hash {
  return asHash(list.string());
}

function authorization(list: FieldReader): Authorization {
  return list.group((fields) => ({
    chainId: fields.scalar(),
    address: asAddress(fields.string()),
    nonce: fields.scalar(8),
    yParity: fields.scalar(1),
    r: fields.scalar(),
    s: fields.scalar(),
  }));
}

/** Names a transaction in log lines and messages. */
export function nameOfTransaction(transaction: Transaction): string {
  return toHex(transaction.hash);
}
