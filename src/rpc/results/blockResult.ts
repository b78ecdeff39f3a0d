import type { ChainReader } from "../../chain/chainReader.ts";
import { isStored } from "../../chain/isStored.ts";
import { joinBytes } from "../../primitives/hex.ts";
import { type JsonPiece, roughLengthOf } from "../../primitives/jsonPieces.ts";
import { type JsonWriter, jsonPieces, jsonText, writeAtOnce } from "../../primitives/jsonWriter.ts";
import { EventLoopPacer } from "../../primitives/pacer.ts";
import type { RlpItem } from "../../primitives/rlp.ts";
import { hashesOf, type NamedHeader, type StoredBlock, transactionCountOf } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import { type Withdrawal, withdrawalOf } from "../../types/withdrawal.ts";
import { JsonPieces, JsonStream, RawJson } from "../method.ts";
import { writeMinedTransactions } from "./transactionResult.ts";

/** Whether a block shows its transactions by hash or in full. */
export type BlockDetail = "hashes" | "transactions";

/**
 * The block object (json-rpc.md#block) as JSON text: members in Besu's order, those without a value left out. Most
 * requests are for the newest blocks, so the text is kept for as long as the chain keeps the block in memory.
 */
export function blockJson(block: StoredBlock, detail: BlockDetail): string {
  const texts = keptTexts.get(block) ?? new Map<BlockDetail, string>();
  const known = texts.get(detail);
  if (known !== undefined) return known;
  const text = jsonText((writer) => writeAtOnce(writeBlock(writer, block, detail)));
  keptTexts.set(block, texts.set(detail, text));
  block.addHeldBytes?.(text.length);
  return text;
}

const keptTexts = new WeakMap<StoredBlock, Map<BlockDetail, string>>();

/**
 * The block object as an answer; null when the block is removed from the chain before its text is made. That of many hashes is
 * kept as blockJson's, in bytes. A large one with transactions in full is made as it is read, which costs no memory for its text.
 */
export function blockAnswer(
  block: StoredBlock,
  detail: BlockDetail,
  chain: Pick<ChainReader, "headerByNumber" | "historyStart">,
): RawJson | JsonStream | JsonPieces | Promise<JsonPieces | null> {
  if (detail === "hashes" && transactionCountOf(block) >= MANY_HASHES)
    return keptPieces.get(block) ?? piecesOfHashes(block, chain);
  if (detail === "hashes" || !isLarge(block)) return new RawJson(blockJson(block, detail), "ascii");
  return new JsonStream(block.size, blockPieces(block, detail));
}

/** The block object in pieces, each made when it is asked for. */
export function blockPieces(block: StoredBlock, detail: BlockDetail): Iterable<JsonPiece> {
  return jsonPieces((writer) => writeBlock(writer, block, detail));
}

/** Blocks with their transactions in full, as a list that is made as it is read. */
export function blocksAnswer(blocks: readonly StoredBlock[]): JsonStream {
  return new JsonStream(
    blocks.reduce((sum, { size }) => sum + size, 0),
    jsonPieces((writer) => writeBlocks(writer, blocks)),
  );
}

function* writeBlocks(writer: JsonWriter, blocks: readonly StoredBlock[]): Generator<void, void> {
  writer.beginList();
  for (const block of blocks) {
    yield* writeBlock(writer, block, "transactions");
    yield;
  }
  writer.endList();
}

const keptPieces = new WeakMap<StoredBlock, JsonPieces>();

async function piecesOfHashes(
  block: StoredBlock,
  chain: Pick<ChainReader, "headerByNumber" | "historyStart">,
): Promise<JsonPieces | null> {
  const pieces: Uint8Array[] = [];
  const pacer = new EventLoopPacer();
  for (const piece of jsonPieces((writer) => writeBlock(writer, block, "hashes"), HASHES_PIECE_BYTES)) {
    pieces.push(piece);
    if (!pacer.isDue()) continue;
    await pacer.yield();
    if (!isStored(chain, block)) return null;
  }
  const answer = new JsonPieces([joinBytes(pieces)]);
  keptPieces.set(block, answer);
  block.addHeldBytes?.(roughLengthOf(answer.pieces));
  return answer;
}

/** Hashing and writing so many takes about a millisecond. */
const MANY_HASHES = 2_048;
const HASHES_PIECE_BYTES = 128 * 1024;

/** Whether writing the block in full takes more than some milliseconds. */
function isLarge(block: StoredBlock): boolean {
  return block.size >= LARGE_BYTES || transactionCountOf(block) >= MANY_TRANSACTIONS;
}

const LARGE_BYTES = 1024 * 1024;
const MANY_TRANSACTIONS = 5_000;

/**
 * The block object without transactions, and with null for its bloom if that is hidden. `otherMembers` are JSON if there are
 * any, without a comma around them.
 */
export function blockWithoutTransactionsJson(
  block: StoredBlock,
  {
    otherMembers = "",
    hidesBloom = false,
  }: { readonly otherMembers?: string; readonly hidesBloom?: boolean } = {},
): string {
  return jsonText((writer) => {
    writer.beginObject();
    writeHeader(writer, block, hidesBloom);
    writer.beginList("uncles");
    writer.endList();
    writeLaterMembers(writer, block.header, block.withdrawals ?? []);
    if (otherMembers !== "") writer.members(otherMembers);
    writer.endObject();
  });
}

/** The members of a block that its header has, without total difficulty and size. */
export function headerJson({ header, hash }: NamedHeader): string {
  return jsonText((writer) => {
    writer.beginObject();
    writeHeader(writer, { header, hash });
    writeLaterMembers(writer, header);
    writer.endObject();
  });
}

function* writeBlock(writer: JsonWriter, block: StoredBlock, detail: BlockDetail): Generator<void, void> {
  writer.beginObject();
  writeHeader(writer, block);
  writer.beginList("uncles");
  writer.endList();
  writer.beginList("transactions");
  if (detail === "transactions") yield* writeMinedTransactions(writer, block);
  else yield* writeHashes(writer, block);
  writer.endList();
  writeLaterMembers(writer, block.header, block.withdrawals ?? []);
  writer.endObject();
}

const HASH_BYTES = 32;

function* writeHashes(writer: JsonWriter, block: StoredBlock): Generator<void, void> {
  for (const hashes of hashesOf(block)) {
    writer.dataItems(hashes, HASH_BYTES);
    yield;
  }
}

function writeHeader(
  writer: JsonWriter,
  { header, hash, totalDifficulty, size }: Pick<StoredBlock, "header" | "hash"> & Partial<StoredBlock>,
  hidesBloom = false,
): void {
  writer.quantity("number", header.number);
  writer.data("hash", hash);
  writer.data("mixHash", header.mixHash);
  writer.data("parentHash", header.parentHash);
  writer.data("nonce", header.nonce);
  writer.data("sha3Uncles", header.ommersHash);
  if (hidesBloom) writer.null("logsBloom");
  else writer.data("logsBloom", header.logsBloom);
  writer.data("transactionsRoot", header.transactionsRoot);
  writer.data("stateRoot", header.stateRoot);
  writer.data("receiptsRoot", header.receiptsRoot);
  writer.data("miner", header.coinbase);
  writer.quantity("difficulty", header.difficulty);
  if (totalDifficulty !== undefined) writer.quantity("totalDifficulty", totalDifficulty);
  writer.data("extraData", header.extraData);
  if (header.baseFeePerGas !== undefined) writer.quantity("baseFeePerGas", header.baseFeePerGas);
  if (size !== undefined) writer.quantity("size", size);
  writer.quantity("gasLimit", header.gasLimit);
  writer.quantity("gasUsed", header.gasUsed);
  writer.quantity("timestamp", header.timestamp);
}

/**
 * The members that Shanghai, Cancun and Prague added; on an IBFT chain only a genesis block can have them
 * (ibft2.md#later-forks).
 */
function writeLaterMembers(writer: JsonWriter, header: Header, withdrawals?: readonly RlpItem[]): void {
  if (header.withdrawalsRoot !== undefined) {
    writer.data("withdrawalsRoot", header.withdrawalsRoot);
    if (withdrawals !== undefined) writeWithdrawals(writer, withdrawals);
  }
  if (header.requestsHash !== undefined) writer.data("requestsHash", header.requestsHash);
  if (header.blobGasUsed !== undefined) writer.quantity("blobGasUsed", header.blobGasUsed);
  if (header.excessBlobGas !== undefined) writer.quantity("excessBlobGas", header.excessBlobGas);
  if (header.parentBeaconBlockRoot !== undefined) {
    writer.data("parentBeaconBlockRoot", header.parentBeaconBlockRoot);
  }
}

function writeWithdrawals(writer: JsonWriter, withdrawals: readonly RlpItem[]): void {
  writer.beginList("withdrawals");
  for (const item of withdrawals) writeWithdrawal(writer, withdrawalOf(item));
  writer.endList();
}

function writeWithdrawal(
  writer: JsonWriter,
  { index, validatorIndex, address, amountGwei }: Withdrawal,
): void {
  writer.beginObject();
  writer.quantity("index", index);
  writer.quantity("validatorIndex", validatorIndex);
  writer.data("address", address);
  writer.quantity("amount", amountGwei);
  writer.endObject();
}
