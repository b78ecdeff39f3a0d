import { concatBytes } from "../primitives/hex.ts";
import { type RlpSpan, rlpMembers } from "../primitives/rlp.ts";

/**
 * Like withoutBlobs, with the strictness of Besu's JSON-RPC: undefined unless the wrapper has exactly blobs, commitments
 * and proofs.
 */
export function unwrappedBlobTransaction(raw: Uint8Array): Uint8Array | undefined {
  const unwrapped = withoutBlobs(raw);
  if (raw[0] !== BLOB_TYPE) return unwrapped;
  return unwrapped === raw || [...rlpMembers(raw.subarray(1))].length !== 1 + MIN_ATTACHMENTS
    ? undefined
    : unwrapped;
}

/**
 * Unwraps a blob transaction in network form, which has blobs, commitments and proofs beside it (EIP-4844, networking): the
 * type, then a list that begins with the transaction's own list. Returns the canonical bytes; other bytes as they are.
 */
export function withoutBlobs(raw: Uint8Array): Uint8Array {
  if (raw[0] !== BLOB_TYPE) return raw;
  try {
    const list = raw.subarray(1);
    const members: RlpSpan[] = [];
    for (const member of rlpMembers(list)) {
      if (members.push(member) > MAX_MEMBERS) return raw;
    }
    const [transaction, ...attachments] = members;
    if (transaction?.isList !== true || attachments.length < MIN_ATTACHMENTS) return raw;
    return concatBytes(Uint8Array.of(BLOB_TYPE), list.subarray(transaction.start, transaction.until));
  } catch {
    return raw;
  }
}

const BLOB_TYPE = 3;
const MIN_ATTACHMENTS = 3;
/** The transaction, a version, and the three lists; reading stops at the first surplus member. */
const MAX_MEMBERS = 5;
