import { type Address, asAddress } from "./address.ts";
import { addressOfPublicKey, curve, type Signature } from "./secp256k1.ts";

/** A signed digest and its signature, as one item of a batch. */
export interface RecoveryItem {
  /** Writes digest (32 bytes), r (32), s (32) and parity (1) to `batch` from `at` on, which must hold zeros there. */
  writeTo(batch: Uint8Array, at: number): void;
}

/** An item whose signature is given as numbers. */
export class SignedDigest implements RecoveryItem {
  /** 32 bytes. */
  readonly digest: Uint8Array;
  readonly signature: Signature;

  constructor(digest: Uint8Array, signature: Signature) {
    this.digest = digest;
    this.signature = signature;
  }

  writeTo(batch: Uint8Array, at: number): void {
    const view = new DataView(batch.buffer, batch.byteOffset);
    batch.set(this.digest, at);
    writeScalar(view, at + 32, this.signature.r);
    writeScalar(view, at + 64, this.signature.s);
    batch[at + 96] = this.signature.yParity;
  }
}

/** An item that another thread has written. */
export class WrittenItem implements RecoveryItem {
  private readonly bytes: Uint8Array;

  /** `bytes` are the RECOVERY_ITEM_BYTES that an item's `writeTo` wrote. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  writeTo(batch: Uint8Array, at: number): void {
    batch.set(this.bytes, at);
  }
}

/** Digest, r, s and parity. */
export const RECOVERY_ITEM_BYTES = 97;

/*
 * The messages between the recovery pool and its threads: one buffer per batch, transferred without a copy.
 * Request: the items. Response: 1 or 0, and the address (20).
 */
const ANSWER_BYTES = 21;

export function encodeItems(items: readonly RecoveryItem[]): ArrayBuffer {
  const bytes = new Uint8Array(items.length * RECOVERY_ITEM_BYTES);
  for (let index = 0; index < items.length; index++)
    items[index]?.writeTo(bytes, index * RECOVERY_ITEM_BYTES);
  return bytes.buffer;
}

/** Recovers one item on this thread; undefined when it fits no key. */
export function recoverItem(item: RecoveryItem): Address | undefined {
  single.fill(0);
  item.writeTo(single, 0);
  return signerAt(single, 0);
}

/** Scratch memory of recoverItem, for the bytes of one item. */
const single = new Uint8Array(RECOVERY_ITEM_BYTES);

/** Recovers each item, on a thread of the pool; an item that fits no key gives zeros. */
export function answerItems(items: ArrayBuffer): ArrayBuffer {
  const bytes = new Uint8Array(items);
  const answers = new Uint8Array((bytes.length / RECOVERY_ITEM_BYTES) * ANSWER_BYTES);
  for (let at = 0, out = 0; at < bytes.length; at += RECOVERY_ITEM_BYTES, out += ANSWER_BYTES) {
    const signer = signerAt(bytes, at);
    if (signer === undefined) continue;
    answers[out] = 1;
    answers.set(signer, out + 1);
  }
  return answers.buffer;
}

/** The signer of the item from `at` on. */
function signerAt(items: Uint8Array, at: number): Address | undefined {
  const rs = items.subarray(at + 32, at + 96);
  const publicKey = curve.recover(items.subarray(at, at + 32), rs, items[at + 96] ?? 0);
  return publicKey === undefined ? undefined : addressOfPublicKey(publicKey);
}

export function decodeAnswers(answers: ArrayBuffer): (Address | undefined)[] {
  const bytes = new Uint8Array(answers);
  const addresses: (Address | undefined)[] = [];
  for (let at = 0; at < bytes.length; at += ANSWER_BYTES)
    addresses.push(bytes[at] === 1 ? asAddress(bytes.slice(at + 1, at + ANSWER_BYTES)) : undefined);
  return addresses;
}

/** Writes a scalar of more than 256 bits as zero, which fits no key. */
function writeScalar(view: DataView, at: number, scalar: bigint): void {
  if (scalar <= 0n || scalar >= SCALAR_END) return;
  for (let word = 0; word < 4; word++)
    view.setBigUint64(at + 8 * word, BigInt.asUintN(64, scalar >> WORD_SHIFTS[word as 0 | 1 | 2 | 3]));
}

const SCALAR_END = 1n << 256n;
const WORD_SHIFTS = [192n, 128n, 64n, 0n] as const;
