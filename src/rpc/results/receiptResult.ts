import type { LocatedTransaction } from "../../chain/chainReader.ts";
import { blobGasOf } from "../../execution/checkTransaction.ts";
import { writeReceiptLogs } from "../../logs/logResult.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { toHex } from "../../primitives/hex.ts";
import { type JsonWriter, jsonText, writeAtOnce } from "../../primitives/jsonWriter.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { StoredBlock } from "../../types/block.ts";
import { createdAddress } from "../../types/createdAddress.ts";
import type { Receipt } from "../../types/receipt.ts";
import { effectiveGasPrice, type SentTransaction } from "../../types/transaction.ts";
import type { JsonStream, RawJson } from "../method.ts";
import { writeOptionalData } from "./transactionResult.ts";
import { writtenAnswer } from "./writtenAnswer.ts";

/** The receipt of a transaction (json-rpc.md#receipt). `blobGasPriceWei` is the price per unit of blob gas in its block. */
export function receiptAnswer(
  { block, transaction, index, receipt, firstLogIndex }: LocatedTransaction,
  blobGasPriceWei: bigint,
): RawJson | JsonStream {
  const context = blockContext(block, blobGasPriceWei);
  return answerOf([receipt], (writer) =>
    writeReceipt(writer, { transaction, receipt, index, logsBefore: firstLogIndex }, context),
  );
}

/** What receiptJson shows. */
interface ShownReceipt {
  readonly blobGasPriceWei: bigint;
  /** Whether logs and bloom are shown; null otherwise. */
  readonly hasLogs: boolean;
  /** Whether the data of a revert is shown; yes unless given. */
  readonly hasRevertReason?: boolean;
  /** JSON of more members, without a comma around them. */
  readonly otherMembers?: string;
}

/** The receipt of the transaction at `index` of a block as JSON text, made at once. */
export function receiptJson(
  block: StoredBlock,
  index: number,
  { blobGasPriceWei, hasLogs, hasRevertReason = true, otherMembers }: ShownReceipt,
): string {
  const transaction = expectDefined(block.transactions[index], "a transaction of the block");
  const receipt = expectDefined(block.receipts[index], "its receipt");
  const logsBefore = hasLogs ? logsBeforeReceipt(block, index) : 0;
  const hidden = { hidesLogs: !hasLogs, hidesRevertReason: !hasRevertReason };
  const located = { transaction, receipt, index, logsBefore, otherMembers, ...hidden };
  const context = blockContext(block, blobGasPriceWei);
  return jsonText((writer) => writeAtOnce(writeReceipt(writer, located, context)));
}

/** The receipts of all transactions of a block, in order, as a list. */
export function blockReceiptsAnswer(block: StoredBlock, blobGasPriceWei: bigint): RawJson | JsonStream {
  const context = blockContext(block, blobGasPriceWei);
  return answerOf(block.receipts, (writer) => writeReceipts(writer, block, context));
}

function* writeReceipts(
  writer: JsonWriter,
  block: StoredBlock,
  context: BlockContext,
): Generator<void, void> {
  writer.beginList();
  let logsBefore = 0;
  for (const [index, receipt] of block.receipts.entries()) {
    const transaction = block.transactions[index];
    if (transaction === undefined) break;
    yield* writeReceipt(writer, { transaction, receipt, index, logsBefore }, context);
    logsBefore += receipt.logs.length;
    if (index % RECEIPTS_PER_STEP === RECEIPTS_PER_STEP - 1) yield;
  }
  writer.endList();
}

const RECEIPTS_PER_STEP = 16;

/** The answer, made at once, or as it is read when the receipts are large. */
function answerOf(
  receipts: readonly Receipt[],
  write: (writer: JsonWriter) => Generator<void, void>,
): RawJson | JsonStream {
  const bytes = receipts.reduce((sum, receipt) => sum + bytesOf(receipt), 0);
  return writtenAnswer(bytes, write);
}

/** About what a receipt takes in memory. */
export function bytesOf({ logs, revertReason }: Receipt): number {
  const ofLogs = logs.reduce((sum, { data }) => sum + BYTES_PER_LOG + data.length, 0);
  return BYTES_PER_RECEIPT + ofLogs + (revertReason?.length ?? 0);
}

const BYTES_PER_RECEIPT = 256;
const BYTES_PER_LOG = 128;

/** What all receipts of a block have in common. */
interface BlockContext {
  /** The members that name the block, encoded once. */
  readonly members: string;
  readonly baseFeePerGas: bigint | undefined;
  readonly blobGasPriceWei: bigint;
  readonly hash: Uint8Array;
  readonly number: bigint;
}

interface LocatedReceipt {
  readonly transaction: SentTransaction;
  readonly receipt: Receipt;
  readonly index: number;
  /** Number of logs of earlier transactions of the block. */
  readonly logsBefore: number;
  readonly hidesLogs?: boolean;
  readonly hidesRevertReason?: boolean;
  readonly otherMembers?: string | undefined;
}

/** Number of logs of the transactions before the one at `index`. */
export function logsBeforeReceipt({ receipts }: StoredBlock, index: number): number {
  let count = 0;
  for (let before = 0; before < index; before++) count += receipts[before]?.logs.length ?? 0;
  return count;
}

function blockContext({ hash, header }: StoredBlock, blobGasPriceWei: bigint): BlockContext {
  const { number, baseFeePerGas } = header;
  const members = `"blockHash":"${toHex(hash)}","blockNumber":"${toQuantity(number)}"`;
  return { members, baseFeePerGas, blobGasPriceWei, hash, number };
}

function* writeReceipt(
  writer: JsonWriter,
  located: LocatedReceipt,
  context: BlockContext,
): Generator<void, void> {
  const { transaction, receipt, index, hidesLogs, hidesRevertReason, otherMembers } = located;
  const { to, sender, nonce } = transaction;
  writer.beginObject();
  writer.members(context.members);
  // Shown for failed creations too.
  writeOptionalData(writer, "contractAddress", to === undefined ? createdAddress(sender, nonce) : undefined);
  writer.quantity("cumulativeGasUsed", receipt.cumulativeGasUsed);
  writer.data("from", sender);
  writer.quantity("gasUsed", receipt.gasUsed);
  writer.quantity("effectiveGasPrice", effectiveGasPrice(transaction, context.baseFeePerGas));
  if (hidesLogs === true) for (const name of ["logs", "logsBloom"]) writer.null(name);
  else yield* writeLogs(writer, located, context);
  if ("status" in receipt.outcome) writer.quantity("status", receipt.outcome.status);
  else writer.data("root", receipt.outcome.stateRoot);
  writeOptionalData(writer, "to", to);
  writer.data("transactionHash", transaction.hash);
  writer.quantity("transactionIndex", index);
  if (receipt.revertReason !== undefined && hidesRevertReason !== true)
    yield* writer.longData("revertReason", receipt.revertReason);
  writer.quantity("type", receipt.type);
  if (transaction.type === 3) {
    writer.quantity("blobGasUsed", blobGasOf(transaction));
    writer.quantity("blobGasPrice", context.blobGasPriceWei);
  }
  if (otherMembers !== undefined) writer.members(otherMembers);
  writer.endObject();
}

function* writeLogs(
  writer: JsonWriter,
  { transaction, receipt, index, logsBefore }: LocatedReceipt,
  { hash, number }: BlockContext,
): Generator<void, void> {
  writer.beginList("logs");
  yield* writeReceiptLogs(writer, receipt.logs, {
    transactionHash: transaction.hash,
    transactionIndex: index,
    blockHash: hash,
    blockNumber: number,
    firstLogIndex: logsBefore,
  });
  writer.endList();
  writer.data("logsBloom", receipt.logsBloom);
}
