import type { Hash } from "../../primitives/hash.ts";
import { bigintToBytes } from "../../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString, rlpPrefix } from "../../primitives/rlp.ts";
import { encodeRlpListInSteps } from "../../primitives/rlpInSteps.ts";
import { atOnce, STEP_BYTES, StepMeter, type Steps } from "../../primitives/steps.ts";
import { type BareReceipt, encodeReceiptInSteps, LOG_STEP_BYTES } from "../../types/receipt.ts";

/** RLP writers for parts of messages. */

/** [request id, body], the shape of every request and response. */
export function withRequestId(requestId: bigint, body: Uint8Array): Uint8Array {
  return encodeRlpList([encodeScalar(requestId), body]);
}

export function* withRequestIdInSteps(requestId: bigint, body: Uint8Array): Steps<Uint8Array> {
  return yield* encodeRlpListInSteps([encodeScalar(requestId), body]);
}

export function encodeHashes(hashes: readonly Hash[]): Uint8Array {
  return encodeRlpList(hashes.map(encodeRlpString));
}

export function encodeScalar(value: bigint): Uint8Array {
  return encodeRlpString(bigintToBytes(value));
}

/** The receipts of one block as encoded in a response. */
export function encodeReceipts(receipts: readonly BareReceipt[]): Uint8Array {
  return atOnce(encodeReceiptsInSteps(receipts));
}

export function* encodeReceiptsInSteps(receipts: readonly BareReceipt[]): Steps<Uint8Array> {
  const parts: Uint8Array[] = [];
  const meter = new StepMeter();
  for (const receipt of receipts) {
    const encoded = yield* encodeReceiptInSteps(receipt, meter);
    // A typed receipt is a byte string.
    if (receipt.type !== 0) parts.push(rlpPrefix(encoded.length, 0x80));
    parts.push(encoded);
    if (meter.isFull(RECEIPT_STEP_BYTES)) yield;
  }
  return yield* encodeRlpListInSteps(parts, meter);
}

/** Bytes of the encoded logs of receipts: a lower bound for the receipts, without encoding them. */
export function* leastBytesOfReceiptsInSteps(receipts: readonly BareReceipt[]): Steps<number> {
  const meter = new StepMeter();
  let bytes = 0;
  for (const { logs } of receipts) {
    for (const { topics, data } of logs) {
      bytes += LOG_BYTES + topics.length * TOPIC_BYTES + data.length;
      if (meter.isFull(LOG_STEP_BYTES)) yield;
    }
  }
  return bytes;
}

/** What a receipt without logs adds to a step: 128 of them take half a millisecond. */
const RECEIPT_STEP_BYTES = STEP_BYTES / 128;
/** Bytes of an encoded log without topics and data, and of a topic. */
const LOG_BYTES = 23;
const TOPIC_BYTES = 33;
