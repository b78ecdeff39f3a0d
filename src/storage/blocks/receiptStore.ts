import { asAddress } from "../../primitives/address.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { asHash } from "../../primitives/hash.ts";
import { STEP_BYTES, StepMeter, type Steps } from "../../primitives/steps.ts";
import { bloomOfLogs, bloomOfLogsInSteps, EMPTY_BLOOM, STEP_LOGS } from "../../types/bloom.ts";
import type { Log } from "../../types/log.ts";
import { LOG_STEP_BYTES, type Receipt, stepBytesOfLog } from "../../types/receipt.ts";
import type { TransactionType } from "../../types/transaction.ts";
import type { Batch } from "../batch.ts";
import { SEAL_BYTES, sealEntry, sealRecordInSteps } from "../checksum.ts";
import type { Database } from "../database.ts";
import { receiptsKey } from "../keys.ts";
import { RecordReader, RecordWriter } from "./byteRecord.ts";
import { CHUNK_TRANSACTIONS, chunkOf, chunksOf, OpenedChunk, openChunk, openChunkInSteps } from "./chunks.ts";

/**
 * The receipts of a block, in chunks like its transactions. Blooms are not stored: a bloom has 256 bytes and is derived
 * from the logs on first access. A chunk begins with the count of logs before it in the block, so that one receipt gets
 * its log indexes without a read of the others.
 */
export function* putReceiptsInSteps(batch: Batch, number: bigint, receipts: readonly Receipt[]): Steps<void> {
  let logsBefore = 0;
  const meter = new StepMeter();
  for (let chunk = 0; chunk < chunksOf(receipts.length); chunk++) {
    const key = receiptsKey(number, chunk);
    const inChunk = chunkOf(receipts, chunk);
    const bytes = yield* mostBytesInSteps(inChunk, meter);
    const writer = new RecordWriter(bytes);
    writer.number(logsBefore);
    for (const receipt of inChunk) {
      yield* writeReceipt(writer, receipt, meter);
      logsBefore += receipt.logs.length;
    }
    const isLong = bytes > STEP_BYTES;
    batch.put(key, isLong ? yield* sealRecordInSteps(key, writer) : sealEntry(key, writer.finish()));
    yield;
  }
}

/** Most bytes of a chunk of receipts, sealed, so that the buffer of its writer never grows. */
function* mostBytesInSteps(receipts: readonly Receipt[], meter: StepMeter): Steps<number> {
  let bytes = MOST_NUMBER_BYTES + SEAL_BYTES;
  for (const { logs, revertReason } of receipts) {
    bytes += MOST_HEAD_BYTES;
    if (revertReason !== undefined) bytes += MOST_NUMBER_BYTES + revertReason.length;
    for (const { topics, data } of logs) {
      bytes += MOST_LOG_BYTES + TOPIC_BYTES * topics.length + data.length;
      if (meter.isFull(LOG_STEP_BYTES / 8)) yield;
    }
  }
  return bytes;
}

/** Bytes that are reserved for a number, for a receipt without logs (flags, state root, three numbers), and for a log. */
const MOST_NUMBER_BYTES = 8;
const MOST_HEAD_BYTES = 1 + 32 + 3 * MOST_NUMBER_BYTES;
const MOST_LOG_BYTES = 20 + 1 + MOST_NUMBER_BYTES;
const TOPIC_BYTES = 32;

export function deleteReceipts(batch: Batch, number: bigint, count: number): void {
  for (let chunk = 0; chunk < chunksOf(count); chunk++) batch.delete(receiptsKey(number, chunk));
}

/** All receipts of a block that has `count` of them. */
export function readReceipts(database: Database, number: bigint, count: number): readonly Receipt[] {
  const receipts: Receipt[] = [];
  for (let chunk = 0; chunk < chunksOf(count); chunk++) {
    const reader = readChunk(database, number, chunk);
    reader.number();
    const inChunk = Math.min(CHUNK_TRANSACTIONS, count - receipts.length);
    for (let at = 0; at < inChunk; at++) receipts.push(readReceiptFields(reader));
  }
  return receipts;
}

/** Like readReceipts, in steps: a chunk, or a limited number of logs or bytes. */
export function* readReceiptsInSteps(
  database: Database,
  number: bigint,
  count: number,
): Steps<readonly Receipt[]> {
  const receipts: Receipt[] = [];
  for (let chunk = 0; chunk < chunksOf(count); chunk++) {
    if (chunk > 0) yield;
    const reader = yield* openReceiptsInSteps(database, number, chunk);
    reader.number();
    const inChunk = Math.min(CHUNK_TRANSACTIONS, count - receipts.length);
    for (let at = 0; at < inChunk; at++) {
      const head = readReceiptHead(reader);
      const logs: Log[] = [];
      for (let log = 0; log < head.logCount; log++) {
        if (log > 0 && log % STEP_LOGS === 0) yield;
        logs.push(readLog(reader));
      }
      // Derived on first access, the bloom of many logs would take one long step.
      const bloom = logs.length > STEP_LOGS ? yield* bloomOfLogsInSteps(logs) : undefined;
      receipts.push(completeReceipt(reader, head, logs, bloom));
    }
  }
  return receipts;
}

/** A receipt with the index that its first log has within the block. */
export interface PlacedReceipt {
  readonly receipt: Receipt;
  readonly firstLogIndex: number;
}

/** Opens a chunk of a block's receipts for lookups. */
export function openReceipts(database: Database, number: bigint, chunk: number): OpenedChunk<PlacedReceipt> {
  const reader = readChunk(database, number, chunk);
  /** Index within the block of the first log of each receipt that was passed, and of the next one. */
  const firstLogs = [reader.number()];
  const firstLogOf = (index: number): number => expectDefined(firstLogs[index], "the logs before a receipt");
  return new OpenedChunk(reader, {
    read: (_, index) => ({ receipt: readReceiptFields(reader), firstLogIndex: firstLogOf(index) }),
    pass(_, index) {
      firstLogs.push(firstLogOf(index) + passReceipt(reader));
    },
  });
}

/** Flags in a receipt's first byte, next to its type. */
const SUCCEEDED = 0x10;
const HAS_STATE_ROOT = 0x20;
const HAS_REVERT_REASON = 0x40;
const TYPE_MASK = 0x0f;

function* writeReceipt(writer: RecordWriter, receipt: Receipt, meter: StepMeter): Steps<void> {
  const { type, outcome, cumulativeGasUsed, gasUsed, logs, revertReason } = receipt;
  const hasRoot = "stateRoot" in outcome;
  writer.byte(
    type |
      (hasRoot ? HAS_STATE_ROOT : outcome.status === 1 ? SUCCEEDED : 0) |
      (revertReason === undefined ? 0 : HAS_REVERT_REASON),
  );
  if (hasRoot) writer.fixed(outcome.stateRoot);
  writer.amount(cumulativeGasUsed);
  writer.amount(gasUsed);
  writer.number(logs.length);
  for (const log of logs) {
    writer.fixed(log.address);
    writer.byte(log.topics.length);
    for (const topic of log.topics) writer.fixed(topic);
    if (log.data.length > STEP_BYTES) yield* writer.sizedInSteps(log.data);
    else writer.sized(log.data);
    if (meter.isFull(stepBytesOfLog(log))) yield;
  }
  if (revertReason !== undefined) writer.sized(revertReason);
}

function readReceiptFields(reader: RecordReader): Receipt {
  const head = readReceiptHead(reader);
  const logs: Log[] = [];
  for (let at = 0; at < head.logCount; at++) logs.push(readLog(reader));
  return completeReceipt(reader, head, logs);
}

/** The fields stored before a receipt's logs. */
interface ReceiptHead extends Pick<Receipt, "outcome" | "cumulativeGasUsed" | "gasUsed"> {
  readonly flags: number;
  readonly logCount: number;
}

export function readReceiptHead(reader: RecordReader): ReceiptHead {
  const flags = reader.byte();
  const outcome =
    (flags & HAS_STATE_ROOT) !== 0
      ? { stateRoot: reader.fixed(32) }
      : { status: (flags & SUCCEEDED) !== 0 ? (1 as const) : (0 as const) };
  const cumulativeGasUsed = reader.amount();
  const gasUsed = reader.amount();
  return { flags, outcome, cumulativeGasUsed, gasUsed, logCount: reader.number() };
}

/** Reads the fields stored after the logs. */
function completeReceipt(
  reader: RecordReader,
  { flags, outcome, cumulativeGasUsed, gasUsed }: ReceiptHead,
  logs: readonly Log[],
  bloom?: Uint8Array,
): Receipt {
  const type = (flags & TYPE_MASK) as TransactionType;
  const revertReason = (flags & HAS_REVERT_REASON) === 0 ? undefined : reader.sized();
  return new DerivingReceipt({ type, outcome, cumulativeGasUsed, gasUsed, logs }, revertReason, bloom);
}

function readLog(reader: RecordReader): Log {
  const address = asAddress(reader.fixed(20));
  const topics = Array.from({ length: reader.byte() }, () => asHash(reader.fixed(32)));
  return { address, topics, data: reader.sized() };
}

/** Skips a receipt; returns the number of its logs. */
function passReceipt(reader: RecordReader): number {
  const flags = reader.byte();
  if ((flags & HAS_STATE_ROOT) !== 0) reader.skip(32);
  reader.number();
  reader.number();
  const logCount = reader.number();
  for (let log = 0; log < logCount; log++) passLog(reader);
  passReceiptEnd(reader, { flags });
  return logCount;
}

/** Skips a log. Returns where it begins: with its address, the number of its topics, and the topics. */
export function passLog(reader: RecordReader): number {
  const from = reader.skip(20);
  reader.skip(32 * reader.byte());
  reader.skip(reader.number());
  return from;
}

/** Skips the fields stored after the logs. */
export function passReceiptEnd(reader: RecordReader, { flags }: Pick<ReceiptHead, "flags">): void {
  if ((flags & HAS_REVERT_REASON) !== 0) reader.skip(reader.number());
}

/** The log that begins at `from`, as views of the record. */
export function logAt(record: Uint8Array, from: number): Log {
  return readLog(new RecordReader(record.subarray(from)));
}

/** Opens a chunk of receipts, which begins with the count of logs before it, in steps. */
export function openReceiptsInSteps(database: Database, number: bigint, chunk: number): Steps<RecordReader> {
  return openChunkInSteps(database, receiptsKey(number, chunk), () => nameOf(number));
}

/** It is a class, because object literals with getters would each have a hidden class of their own. */
class DerivingReceipt implements Receipt {
  readonly type: TransactionType;
  readonly outcome: Receipt["outcome"];
  readonly cumulativeGasUsed: bigint;
  readonly gasUsed: bigint;
  readonly logs: readonly Log[];
  declare readonly revertReason?: Uint8Array;
  #logsBloom: Uint8Array | undefined;

  constructor(
    fields: Omit<Receipt, "logsBloom" | "revertReason">,
    revertReason: Uint8Array | undefined,
    bloom: Uint8Array | undefined,
  ) {
    this.#logsBloom = bloom;
    this.type = fields.type;
    this.outcome = fields.outcome;
    this.cumulativeGasUsed = fields.cumulativeGasUsed;
    this.gasUsed = fields.gasUsed;
    this.logs = fields.logs;
    if (revertReason !== undefined) this.revertReason = revertReason;
  }

  get logsBloom(): Uint8Array {
    this.#logsBloom ??= this.logs.length === 0 ? EMPTY_BLOOM : bloomOfLogs(this.logs);
    return this.#logsBloom;
  }
}

function readChunk(database: Database, number: bigint, chunk: number): RecordReader {
  return openChunk(database, receiptsKey(number, chunk), () => nameOf(number));
}

function nameOf(number: bigint): string {
  return `the receipts of block ${number}`;
}
