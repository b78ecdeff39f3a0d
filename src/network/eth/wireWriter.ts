import type { Hash } from "../../primitives/hash.ts";
import { bigintToBytes } from "../../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../primitives/rlp.ts";
import { atOnce, type Steps } from "../../primitives/steps.ts";
import { type BareReceipt, encodeReceiptInSteps } from "../../types/receipt.ts";

/** RLP writers for parts of messages. */

/** [request id, body], the shape of every request and response. */
export function withRequestId(requestId: bigint, body: Uint8Array): Uint8Array {
  return encodeRlpList([encodeScalar(requestId), body]);
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
  for (const [index, receipt] of receipts.entries()) {
    if (index > 0 && index % STEP_RECEIPTS === 0) yield;
    const encoded = yield* encodeReceiptInSteps(receipt);
    parts.push(receipt.type === 0 ? encoded : encodeRlpString(encoded));
  }
  return encodeRlpList(parts);
}

/** Receipts encoded in a step: half a millisecond. */
const STEP_RECEIPTS = 128;
