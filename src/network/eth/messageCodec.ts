import { fail, ok, type Result } from "../../primitives/result.ts";
import type { Block } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { FindTransaction, Transaction } from "../../types/transaction.ts";
import { MESSAGE_FORMATS, type MessageFormat, UNSOLICITED_TRANSACTIONS } from "./messageFormats.ts";
import type { MessageKind, MessageOf } from "./messages.ts";
import { isBodyOfHeader, readBlock, readHeaderOfBlock, readTransactionsOneByOne } from "./payloadReaders.ts";
import type { AnnouncedBlockErrorCode } from "./ports.ts";
import { withoutRequestId } from "./wireReader.ts";

/**
 * Codec of the eth messages (p2p.md#eth-messages). Decoding is strict, and bounded before anything is decoded: by the length
 * of the payload, then by the number of entries. Malformed input is an error value; the content of a message is not
 * validated here.
 */

/** Why a message was refused; a small set, suited for counting. */
export type MessageErrorCode = "oversized" | "malformed";

export function encodeMessage<Kind extends MessageKind>(message: MessageOf<Kind>): Uint8Array {
  const format: MessageFormat<Kind> = MESSAGE_FORMATS[message.kind];
  return format.encode(message);
}

/** Decoded values reference the payload, except transactions on their own, which are copied. */
export function decodeMessage<Kind extends MessageKind>(
  kind: Kind,
  payload: Uint8Array,
): Result<MessageOf<Kind>, MessageErrorCode> {
  return readBounded(kind, payload, MESSAGE_FORMATS[kind].decode);
}

/** The request id and the undecoded rest of a response. */
export function openResponse(
  kind: MessageKind,
  payload: Uint8Array,
): Result<{ readonly requestId: bigint; readonly body: Uint8Array }, MessageErrorCode> {
  return readBounded(kind, payload, withoutRequestId);
}

/** The header and total difficulty of a NewBlock; the body may still be malformed. */
export function openNewBlock(
  payload: Uint8Array,
): Result<{ readonly header: Header; readonly totalDifficulty: bigint }, MessageErrorCode> {
  return readBounded("newBlock", payload, readHeaderOfBlock);
}

/**
 * The complete block of a NewBlock whose header is valid; `findTransaction` supplies transactions that are decoded
 * already.
 */
export function readNewBlock(
  payload: Uint8Array,
  header: Header,
  findTransaction?: FindTransaction,
): Result<Block, AnnouncedBlockErrorCode> {
  try {
    if (isBodyOfHeader(payload, header)) return ok(readBlock(payload, findTransaction).block);
    return fail("peer", "foreignBody", "its body belongs to another block");
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fail("peer", "malformed", `newBlock: ${error.message}`);
  }
}

/** The transactions of an unsolicited message, decoded lazily. Throws RangeError. */
export function openTransactions(payload: Uint8Array): Iterator<Transaction> {
  if (payload.length > MESSAGE_FORMATS.transactions.longest) throw new RangeError(`${payload.length} bytes`);
  return readTransactionsOneByOne(payload, UNSOLICITED_TRANSACTIONS);
}

/** Reads a payload that is not too long for its kind with `read`, which throws RangeError. */
function readBounded<T>(
  kind: MessageKind,
  payload: Uint8Array,
  read: (payload: Uint8Array) => T,
): Result<T, MessageErrorCode> {
  const { longest } = MESSAGE_FORMATS[kind];
  if (payload.length > longest)
    return fail("peer", "oversized", `${kind} of ${payload.length} bytes, at most ${longest}`);
  try {
    return ok(read(payload));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fail("peer", "malformed", `${kind}: ${error.message}`);
  }
}
