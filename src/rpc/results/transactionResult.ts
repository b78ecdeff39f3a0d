import type { LocatedTransaction } from "../../chain/chainReader.ts";
import { toHex } from "../../primitives/hex.ts";
import { type JsonWriter, jsonText, writeAtOnce } from "../../primitives/jsonWriter.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import { recoverPublicKey } from "../../primitives/secp256k1.ts";
import { type StoredBlock, transactionAt } from "../../types/block.ts";
import {
  effectiveGasPrice,
  feeCap,
  type SentTransaction,
  type Transaction,
} from "../../types/transaction.ts";
import { signatureOf, signingHash } from "../../types/transactionSignature.ts";
import type { JsonStream, RawJson } from "../method.ts";
import { writtenAnswer } from "./writtenAnswer.ts";

/** The first bytes of input, which name the function that is called. */
export const SELECTOR_BYTES = 4;

/**
 * The mined transaction at `index` of its block (json-rpc.md#mined-transaction) as JSON text, with at most `inputBytes` of
 * its input; undefined when there is none.
 */
export function minedTransactionJson(
  block: StoredBlock,
  index: number,
  inputBytes?: number,
): string | undefined {
  const transaction = transactionAt(block, index);
  return transaction && locatedTransactionJson({ block, transaction, index }, inputBytes);
}

/** Like `minedTransactionJson`, for a transaction that was looked up: the others of its block are not read. */
function locatedTransactionJson(
  { block, transaction, index }: Pick<LocatedTransaction, "block" | "transaction" | "index">,
  inputBytes?: number,
): string {
  const context = { ...blockContext(block), inputBytes };
  return jsonText((writer) => writeAtOnce(writeMined(writer, transaction, index, context)));
}

/** The whole transaction as an answer, made as it is read when it is large. */
export function transactionAnswer({
  block,
  transaction,
  index,
}: Pick<LocatedTransaction, "block" | "transaction" | "index">): RawJson | JsonStream {
  const context = blockContext(block);
  return writtenAnswer(transaction.raw.length, (writer) => writeMined(writer, transaction, index, context));
}

/** All transactions of a block, in full, as items of a list. The generator yields every few of them, and within long data. */
export function* writeMinedTransactions(writer: JsonWriter, block: StoredBlock): Generator<void, void> {
  const context = blockContext(block);
  for (const [index, transaction] of block.transactions.entries()) {
    yield* writeMined(writer, transaction, index, context);
    if (index % TRANSACTIONS_PER_STEP === TRANSACTIONS_PER_STEP - 1) yield;
  }
}

const TRANSACTIONS_PER_STEP = 64;

/** A pooled transaction (json-rpc.md#pooled-transaction) as an answer, made as it is read when it is large. */
export function pendingTransactionAnswer(transaction: SentTransaction): RawJson | JsonStream {
  return writtenAnswer(transaction.raw.length, (writer) => writePendingTransaction(writer, transaction));
}

/**
 * Writes what `pendingTransactionAnswer` shows as an item of a list. It shows the sender's public key, whose recovery costs some
 * 50 µs. The generator yields every few entries of its lists, and within long data.
 */
export function* writePendingTransaction(
  writer: JsonWriter,
  transaction: SentTransaction,
): Generator<void, void> {
  const publicKey = recoverPublicKey(signingHash(transaction), signatureOf(transaction));
  writer.beginObject();
  yield* writePooledMembers(writer, transaction);
  writeOptionalData(writer, "publicKey", publicKey);
  yield* writer.longData("raw", transaction.raw);
  writePooledEnd(writer, transaction);
}

/** A pooled transaction as other clients show it, without the members that only Besu has. */
export function pooledTransactionJson(transaction: SentTransaction): string {
  return jsonText((writer) => writeAtOnce(writePooledTransaction(writer, transaction)));
}

/** Writes what `pooledTransactionJson` shows as a member of that name. The generator yields every few entries of its lists. */
export function* writePooledTransaction(
  writer: JsonWriter,
  transaction: SentTransaction,
  name = "",
): Generator<void, void> {
  writer.beginObject(name);
  yield* writePooledMembers(writer, transaction);
  writePooledEnd(writer, transaction);
}

function* writePooledMembers(writer: JsonWriter, transaction: SentTransaction): Generator<void, void> {
  writer.null("blockHash");
  writer.null("blockNumber");
  writer.data("from", transaction.sender);
  writer.quantity("gas", transaction.gasLimit);
  writer.quantity("gasPrice", feeCap(transaction));
  writeFeeCaps(writer, transaction);
  writer.data("hash", transaction.hash);
  yield* writer.longData("input", transaction.data);
  writer.quantity("nonce", transaction.nonce);
  writeOptionalData(writer, "to", transaction.to);
  writer.null("transactionIndex");
  writer.quantity("value", transaction.value);
  writeSignature(writer, transaction);
  yield* writeLists(writer, transaction);
  if (transaction.chainId !== undefined) writer.quantity("chainId", transaction.chainId);
}

function writePooledEnd(writer: JsonWriter, { type }: SentTransaction): void {
  writer.quantity("type", type);
  writer.endObject();
}

/** What all transactions of a block have in common. */
interface BlockContext {
  /** The first members, encoded once. */
  readonly members: string;
  readonly baseFeePerGas: bigint | undefined;
  /** How much is shown of each input; all of it when undefined. */
  readonly inputBytes: number | undefined;
}

function blockContext({ hash, header }: StoredBlock): BlockContext {
  return {
    members: `"blockHash":"${toHex(hash)}","blockNumber":"${toQuantity(header.number)}"`,
    baseFeePerGas: header.baseFeePerGas,
    inputBytes: undefined,
  };
}

function* writeMined(
  writer: JsonWriter,
  transaction: SentTransaction,
  index: number,
  context: BlockContext,
): Generator<void, void> {
  writer.beginObject();
  yield* writeLists(writer, transaction);
  writer.members(context.members);
  if (transaction.chainId !== undefined) writer.quantity("chainId", transaction.chainId);
  writer.data("from", transaction.sender);
  writer.quantity("gas", transaction.gasLimit);
  writer.quantity("gasPrice", effectiveGasPrice(transaction, context.baseFeePerGas));
  writeFeeCaps(writer, transaction);
  writer.data("hash", transaction.hash);
  const { data } = transaction;
  const shown = context.inputBytes === undefined ? data : data.subarray(0, context.inputBytes);
  yield* writer.longData("input", shown);
  writer.quantity("nonce", transaction.nonce);
  writeOptionalData(writer, "to", transaction.to);
  writer.quantity("transactionIndex", index);
  writer.quantity("type", transaction.type);
  writer.quantity("value", transaction.value);
  writeSignature(writer, transaction);
  writer.endObject();
}

/** A member that is null when absent. */
export function writeOptionalData(writer: JsonWriter, name: string, bytes: Uint8Array | undefined): void {
  if (bytes === undefined) writer.null(name);
  else writer.data(name, bytes);
}

function writeFeeCaps(writer: JsonWriter, transaction: Transaction): void {
  const { maxPriorityFeePerGas, maxFeePerGas, maxFeePerBlobGas } = transaction;
  if (maxPriorityFeePerGas !== undefined) writer.quantity("maxPriorityFeePerGas", maxPriorityFeePerGas);
  if (maxFeePerGas !== undefined) writer.quantity("maxFeePerGas", maxFeePerGas);
  if (maxFeePerBlobGas !== undefined) writer.quantity("maxFeePerBlobGas", maxFeePerBlobGas);
}

/** A legacy transaction has no yParity; a blob transaction has no v, but its blob hashes. */
function writeSignature(writer: JsonWriter, transaction: Transaction): void {
  const { type, yParity, v, r, s } = transaction;
  if (type !== 0) writer.quantity("yParity", yParity);
  if (type !== 3) writer.quantity("v", v);
  writer.quantity("r", r);
  writer.quantity("s", s);
  if (type !== 3) return;
  writer.beginList("blobVersionedHashes");
  for (const hash of transaction.blobVersionedHashes) writer.dataItem(hash);
  writer.endList();
}

/** The generator yields every few entries. */
function* writeLists(
  writer: JsonWriter,
  { type, accessList, authorizationList }: Transaction,
): Generator<void, void> {
  if (type === 0) return;
  let written = 0;
  writer.beginList("accessList");
  for (const { address, storageKeys } of accessList) {
    writer.beginObject();
    writer.data("address", address);
    writer.beginList("storageKeys");
    for (const key of storageKeys) {
      writer.dataItem(key);
      if (++written % ENTRIES_PER_STEP === 0) yield;
    }
    writer.endList();
    writer.endObject();
    if (++written % ENTRIES_PER_STEP === 0) yield;
  }
  writer.endList();
  if (type !== 4) return;
  writer.beginList("authorizationList");
  for (const { chainId, address, nonce, yParity, r, s } of authorizationList) {
    writer.beginObject();
    writer.quantity("chainId", chainId);
    writer.data("address", address);
    writer.quantity("nonce", nonce);
    writer.quantity("yParity", yParity);
    writer.quantity("r", r);
    writer.quantity("s", s);
    writer.endObject();
    if (++written % ENTRIES_PER_STEP === 0) yield;
  }
  writer.endList();
}

const ENTRIES_PER_STEP = 512;
