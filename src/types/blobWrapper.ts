import { concatBytes } from "../primitives/hex.ts";
import { type RlpSpan, rlpMembers } from "../primitives/rlp.ts";

/**
 * As withoutBlobs, for one who offers it to Besu's JSON-RPC: undefined where blobs, commitments and proofs are not there,
 * or anything else is.
 */
export function unwrappedBlobTransaction(raw: Uint8Array): Uint8Array | undefined {
  const within = withoutBlobs(raw);
  if (raw[0] !== BLOB_TYPE) return within;
  return within === raw || [...rlpMembers(raw.subarray(1))].length !== 1 + FEWEST_ATTACHMENTS
    ? undefined
    : within;
}

/**
 * A blob transaction as its sender offers it has its blobs, commitments and proofs with it (EIP-4844, networking): the
 * type, then a list that begins with the transaction's own. Gives the canonical bytes within; all else as it is.
 */
export function withoutBlobs(raw: Uint8Array): Uint8Array {
  if (raw[0] !== BLOB_TYPE) return raw;
  try {
    const list = raw.subarray(1);
    const members: RlpSpan[] = [];
    for (const member of rlpMembers(list)) {
      if (members.push(member) > MOST_MEMBERS) return raw;
    }
    const [transaction, ...attachments] = members;
    if (transaction?.isList !== true || attachments.length < FEWEST_ATTACHMENTS) return raw;
    return concatBytes(Uint8Array.of(BLOB_TYPE), list.subarray(transaction.start, transaction.until));
  } catch {
    return raw;
  }
}

const BLOB_TYPE = 3;
const FEWEST_ATTACHMENTS = 3;
/** The transaction, a version, and the three lists; a list that goes on is not read to its end. */
const MOST_MEMBERS = 5;
