import type { Address } from "../primitives/address.ts";
import { type Hash, keccak256 } from "../primitives/hash.ts";
import { concatBytes, EMPTY_BYTES } from "../primitives/hex.ts";
import { bigintToBytes } from "../primitives/quantity.ts";
import { type RecoveryItem, recoverItem } from "../primitives/recoveryBatch.ts";
import { encodeRlpString, rlpListSize, writeRlpListPrefix } from "../primitives/rlp.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import { type SentTransaction, signatureFields, type Transaction, withSender } from "./transaction.ts";

/**
 * The hash that the sender signed. It covers the fields without the signature, which are the bytes before the last three
 * items, so nothing is decoded again. A protected legacy transaction appends chain id and two empty items (EIP-155).
 */
export function signingHash(transaction: Transaction): Hash {
  const { raw, type, chainId } = transaction;
  const signature = signatureFields(transaction);
  const unsigned = raw.subarray(signature.from, signature.position);
  const suffix = type === 0 && chainId !== undefined ? replayProtection(chainId) : EMPTY_BYTES;
  const length = unsigned.length + suffix.length;
  const typeLength = type === 0 ? 0 : 1;
  const size = typeLength + rlpListSize(length);
  const message = size <= scratch.length ? scratch : new Uint8Array(size);
  message[0] = type;
  const at = writeRlpListPrefix(message, typeLength, length);
  message.set(unsigned, at);
  message.set(suffix, at + unsigned.length);
  return keccak256(message.subarray(0, size));
}

/** Scratch memory in which the signed messages of most transactions fit. */
const scratch = new Uint8Array(1024);

function replayProtection(chainId: bigint): Uint8Array {
  return concatBytes(encodeRlpString(bigintToBytes(chainId)), Uint8Array.of(0x80, 0x80));
}

export function signatureOf(transaction: Transaction): Signature {
  return { r: transaction.r, s: transaction.s, yParity: transaction.yParity };
}

/** The input of signature recovery on worker threads (recoveryPool.ts). */
export function recoveryItemOf(transaction: Transaction): RecoveryItem {
  return new SignedTransaction(transaction);
}

/** Copies the signature from the transaction's bytes: converting it to two numbers would take as long as the hash. */
class SignedTransaction implements RecoveryItem {
  private readonly transaction: Transaction;

  constructor(transaction: Transaction) {
    this.transaction = transaction;
  }

  writeTo(batch: Uint8Array, at: number): void {
    batch.set(signingHash(this.transaction), at);
    const signature = signatureFields(this.transaction);
    signature.skip(1);
    signature.copyScalar(batch, at + 32);
    signature.copyScalar(batch, at + 64);
    batch[at + 96] = this.transaction.yParity;
  }
}

/** The transaction with its signer, recovered on this thread; undefined when no key can be recovered. */
export function withRecoveredSender(transaction: Transaction): SentTransaction | undefined {
  const sender = recoverSender(transaction);
  return sender === undefined ? undefined : withSender(transaction, sender);
}

/** The signer, recovered on this thread; undefined when no key can be recovered. */
export function recoverSender(transaction: Transaction): Address | undefined {
  return recoverItem(recoveryItemOf(transaction));
}
