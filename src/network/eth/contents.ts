import type { Outcome } from "../../primitives/outcome.ts";
import { withoutBlobs } from "../../types/blobWrapper.ts";
import { type Block, type Body, decodeBlock, decodeBody } from "../../types/block.ts";
import { decodeHeader, type Header } from "../../types/header.ts";
import { type BareReceipt, decodeReceipt } from "../../types/receipt.ts";
import { decodeTransaction, type FindTransaction, type Transaction } from "../../types/transaction.ts";
import { MAX_HEADER_BYTES, MAX_RECEIPTS } from "./limits.ts";
import { membersOf, scalarOf, stringOf, tupleOf } from "./wireReader.ts";

/**
 * What the messages carry, as lists of at most `limit`: headers, bodies, transactions, receipts. All throw RangeError for
 * what is not one, so that a message is read in one go; messages.ts makes values of it.
 */

export function readHeaders(list: Uint8Array, limit: number): Header[] {
  return membersOf(list, limit).map(readHeader);
}

export function readBodies(list: Uint8Array, limit: number): Body[] {
  return membersOf(list, limit).map((part) =>
    part.length === 1 && part[0] === EMPTY_LIST ? EMPTY_BODY : must(decodeBody(part)),
  );
}

/** Copied out of the message, because each may stay in the pool long after the others; blobs are left behind. */
export function readTransactions(list: Uint8Array, limit: number): Transaction[] {
  return membersOf(list, limit).map((part) =>
    must(decodeTransaction(withoutBlobs(Uint8Array.from(canonicalBytes(part))))),
  );
}

export function readReceipts(list: Uint8Array, limit: number): BareReceipt[][] {
  return membersOf(list, limit).map((block) =>
    membersOf(block, MAX_RECEIPTS).map((part) => must(decodeReceipt(canonicalBytes(part)))),
  );
}

/** [block, total difficulty]. */
export function readBlock(
  payload: Uint8Array,
  find?: FindTransaction,
): { readonly block: Block; readonly totalDifficulty: bigint } {
  const [part, totalDifficulty] = tupleOf(payload, 2);
  if (part === undefined) throw new RangeError("a block is missing");
  const [header] = membersOf(part, 4);
  if (header !== undefined) checkHeaderLength(header);
  return { block: must(decodeBlock(part, find)), totalDifficulty: scalarOf(totalDifficulty, 32) };
}

/** Of the same payload the header alone; nothing is known of the rest. */
export function readHeaderOfBlock(payload: Uint8Array): {
  readonly header: Header;
  readonly totalDifficulty: bigint;
} {
  const [part, totalDifficulty] = tupleOf(payload, 2);
  const [header] = membersOf(part ?? payload, 4);
  if (header === undefined) throw new RangeError("a header is missing");
  return { header: readHeader(header), totalDifficulty: scalarOf(totalDifficulty, 32) };
}

function readHeader(part: Uint8Array): Header {
  checkHeaderLength(part);
  return must(decodeHeader(part));
}

/** Asked before its items are made: a header of nothing but empty items would cost a hundred times its length. */
function checkHeaderLength(part: Uint8Array): void {
  if (part.length > MAX_HEADER_BYTES) throw new RangeError(`a header of ${part.length} bytes`);
}

/** A list stands for itself; what has a type is wrapped in a byte string, and begins with the type. */
function canonicalBytes(part: Uint8Array): Uint8Array {
  if ((part[0] ?? 0) >= 0xc0) return part;
  const bytes = stringOf(part);
  if ((bytes[0] ?? 0xff) >= 0x80) throw new RangeError("a byte string without a type");
  return bytes;
}

function must<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new RangeError(outcome.rejection.message);
  return outcome.value;
}

const EMPTY_LIST = 0xc0;
const EMPTY_BODY: Body = { transactions: [], ommers: [] };
