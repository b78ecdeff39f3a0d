import type { Hash } from "../../primitives/hash.ts";
import { bigintToBytes } from "../../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../primitives/rlp.ts";
import { type BareReceipt, encodeReceipt } from "../../types/receipt.ts";

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
  return encodeRlpList(
    receipts.map((receipt) =>
      receipt.type === 0 ? encodeReceipt(receipt) : encodeRlpString(encodeReceipt(receipt)),
    ),
  );
}
