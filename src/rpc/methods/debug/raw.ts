import { equalBytes, toHex } from "../../../primitives/hex.ts";
import type { JsonPiece } from "../../../primitives/jsonPieces.ts";
import { encodeRlpString } from "../../../primitives/rlp.ts";
import { encodeBlock } from "../../../types/block.ts";
import { encodeHeader } from "../../../types/header.ts";
import { encodeReceipt, type Receipt } from "../../../types/receipt.ts";
import { encodeBodyTransaction } from "../../../types/transaction.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { defineMethod, JsonStream, RawJson, required } from "../../method.ts";
import {
  decodeNumberOrTag,
  decodeNumberTagOrHash,
  findBlock,
  findHeader,
} from "../../parameters/blockParameter.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { dataAnswer, dataPieces } from "../../results/dataAnswer.ts";
import { bytesOf } from "../../results/receiptResult.ts";
import { DATA, HASH, listOf, NUMBER_OR_TAG, NUMBER_TAG_OR_HASH, orNull } from "../../schemas.ts";

/**
 * Blocks and their parts as bytes (json-rpc.md#debug): a typed transaction or receipt is an RLP byte string, as in a list.
 */

export const debugGetRawBlock = defineMethod({
  name: "debug_getRawBlock",
  namespace: "DEBUG",
  summary: "A block as RLP, with its seals.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG)],
  result: { name: "block", schema: DATA },
  ports: ["chain"],
  run([choice], { backend }) {
    const block = findBlock(backend.chain, choice);
    if (block instanceof RpcError) return block;
    return block === undefined ? ERRORS.blockNotFound : dataAnswer(encodeBlock(block));
  },
});

export const debugGetRawHeader = defineMethod({
  name: "debug_getRawHeader",
  namespace: "DEBUG",
  summary: "A header as RLP, with its seals; the block's hash is not the hash of these bytes.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG)],
  result: { name: "header", schema: DATA },
  ports: ["chain"],
  run([choice], { backend }) {
    const block = findBlock(backend.chain, choice);
    if (block instanceof RpcError) return block;
    return block === undefined ? ERRORS.blockNotFound : toHex(encodeHeader(block.header));
  },
});

export const debugGetRawReceipts = defineMethod({
  name: "debug_getRawReceipts",
  namespace: "DEBUG",
  summary: "The receipts of a block, each in its eth wire encoding.",
  parameters: [required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH)],
  result: { name: "receipts", schema: listOf(DATA) },
  ports: ["chain"],
  run([choice], { backend: { chain } }) {
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const block = chain.blockByNumber(found.header.number);
    if (block === undefined || !equalBytes(block.hash, found.hash)) return ERRORS.blockNotFound;
    const { receipts } = block;
    const bytes = receipts.reduce((sum, receipt) => sum + bytesOf(receipt), 0);
    const pieces = rawReceipts(receipts);
    return bytes < LARGE_BYTES ? new RawJson([...pieces].join(""), "ascii") : new JsonStream(bytes, pieces);
  },
});

/** JSON of a list of the receipts, several in each piece. */
function* rawReceipts(receipts: readonly Receipt[]): Generator<JsonPiece, void> {
  let piece = "[";
  for (const [index, receipt] of receipts.entries()) {
    if (index > 0) piece += ",";
    const bytes = encodeReceipt(receipt);
    for (const part of dataPieces(receipt.type === 0 ? bytes : encodeRlpString(bytes))) {
      piece += part;
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = "";
    }
  }
  yield `${piece}]`;
}

const PIECE_LENGTH = 128 * 1024;
const LARGE_BYTES = 256 * 1024;

export const debugGetRawTransaction = defineMethod({
  name: "debug_getRawTransaction",
  namespace: "DEBUG",
  summary: "A mined transaction as RLP, as in its block.",
  parameters: [required("hash", decodeHash, HASH)],
  result: { name: "transaction", schema: orNull(DATA) },
  ports: ["chain"],
  run([hash], { backend }) {
    const located = backend.chain.transactionByHash(hash);
    return located === undefined ? null : dataAnswer(encodeBodyTransaction(located.transaction));
  },
});
