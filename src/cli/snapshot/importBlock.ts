import { checkBody, checkExecution } from "../../chain/bodyRules.ts";
import type { RecoverSenders } from "../../chain/signerRecovery.ts";
import { createYieldPolicy } from "../../execution/yieldPolicy.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes } from "../../primitives/hex.ts";
import {
  type Block,
  decodeBlock,
  type NamedHeader,
  type StoredBlock,
  sizeOfBlock,
} from "../../types/block.ts";
import { EMPTY_BLOOM, mergeBloom } from "../../types/bloom.ts";
import { encodeHeader } from "../../types/header.ts";
import { decodeReceipt, type Receipt } from "../../types/receipt.ts";
import { type SentTransaction, withSender } from "../../types/transaction.ts";
import { decodeItems } from "./records.ts";
import { type Frame, type FrameKind, SnapshotFileError, type SnapshotReader } from "./snapshotFile.ts";

/**
 * Reads the body and the receipts of a snapshot's block, whose header has been checked, and checks them against the roots
 * in the header. Reasons of reverted transactions are not in a snapshot. Throws SnapshotFileError.
 */
export async function readSnapshotBlock(
  reader: SnapshotReader,
  header: NamedHeader,
  parts: { readonly clock: Pick<Clock, "nowMs">; readonly recoverSenders: RecoverSenders },
): Promise<StoredBlock> {
  const frame = await readKind(reader, "block");
  const block = decodeBlock(frame.payload);
  if (!block.ok) throw malformed(frame, block.error.message);
  if (!equalBytes(encodeHeader(block.value.header), encodeHeader(header.header)))
    throw malformed(frame, "it has another header than the one before");
  const yieldPolicy = createYieldPolicy(parts.clock);
  const body = await checkBody(block.value, yieldPolicy);
  if (!body.ok) throw malformed(frame, body.error.message);
  const receiptsFrame = await readKind(reader, "receipts");
  const receipts = receiptsOf(receiptsFrame, block.value);
  const logsBloom = Uint8Array.from(EMPTY_BLOOM);
  for (const receipt of receipts) mergeBloom(logsBloom, receipt.logsBloom);
  const { gasUsed, stateRoot } = header.header;
  const executed = { gasUsed, stateRoot, receipts, logsBloom };
  const checked = await checkExecution(header.header, executed, yieldPolicy);
  if (!checked.ok) throw malformed(receiptsFrame, checked.error.message);
  const transactions = await withSenders(block.value, parts.recoverSenders);
  return { ...block.value, ...header, transactions, receipts, size: sizeOfBlock(block.value) };
}

export async function readKind(reader: SnapshotReader, kind: FrameKind): Promise<Frame> {
  const frame = await reader.read();
  if (frame.kind !== kind) throw malformed(frame, `it should be of the kind "${kind}"`);
  return frame;
}

/** Gas used by each transaction is the difference of the cumulative gas. */
function receiptsOf(frame: Frame, { transactions }: Block): readonly Receipt[] {
  let gasBefore = 0n;
  const receipts = decodeItems(frame).map((bytes) => {
    const receipt = decodeReceipt(bytes);
    if (!receipt.ok) throw malformed(frame, receipt.error.message);
    const gasUsed = receipt.value.cumulativeGasUsed - gasBefore;
    gasBefore = receipt.value.cumulativeGasUsed;
    return { ...receipt.value, gasUsed };
  });
  if (receipts.length !== transactions.length)
    throw malformed(frame, `${receipts.length} receipts for ${transactions.length} transactions`);
  return receipts;
}

async function withSenders(
  { transactions }: Block,
  recoverSenders: RecoverSenders,
): Promise<readonly SentTransaction[]> {
  const senders = await recoverSenders(transactions);
  return transactions.map((transaction, index) => {
    const sender = senders[index];
    if (sender === undefined) throw new SnapshotFileError(`the signature of transaction ${index} is invalid`);
    return withSender(transaction, sender);
  });
}

function malformed({ position }: Frame, why: string): SnapshotFileError {
  return new SnapshotFileError(`the part that begins at byte ${position} is malformed: ${why}`);
}
