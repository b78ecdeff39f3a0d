import { asAddress } from "../primitives/address.ts";
import { asHash } from "../primitives/hash.ts";
import { bigintToBytes, bytesToBigint } from "../primitives/quantity.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import {
  encodeRlpString,
  type RlpItem,
  readRlp,
  rlpListSize,
  rlpStringSize,
  writeRlpListPrefix,
  writeRlpString,
  writeRlpStringPrefix,
} from "../primitives/rlp.ts";
import { copyInSteps, STEP_BYTES, StepMeter, type Steps } from "../primitives/steps.ts";
import { STEP_LOGS } from "./bloom.ts";
import type { Log } from "./log.ts";
import type { TransactionType } from "./transaction.ts";

/** The receipt of a transaction. Gas in gas units. */
export interface Receipt {
  readonly type: TransactionType;
  /** 1 or 0 from Byzantium on (EIP-658), else the state root after the transaction. */
  readonly outcome: { readonly status: 0 | 1 } | { readonly stateRoot: Uint8Array };
  readonly cumulativeGasUsed: bigint;
  readonly gasUsed: bigint;
  readonly logsBloom: Uint8Array;
  readonly logs: readonly Log[];
  /** Output of a reverted transaction; only kept with --revert-reason-enabled, never part of the consensus encoding. */
  readonly revertReason?: Uint8Array;
}

/** The fields of a receipt's consensus encoding. */
export type BareReceipt = Omit<Receipt, "gasUsed" | "revertReason">;

/**
 * The consensus encoding, whose trie root is the header's receiptsRoot (EIP-2718: type byte before the RLP if typed).
 * Computes the length first and then writes to one array, because every transaction of an imported block has a receipt; the
 * library takes at least four times as long.
 */
export function encodeReceipt(receipt: BareReceipt): Uint8Array {
  const { logs } = receipt;
  let logsLength = 0;
  for (const log of logs) logsLength += sizeOfLog(log);
  const encoding = beginEncoding(receipt, logsLength);
  for (const log of logs) encoding.end = writeLog(encoding.bytes, encoding.end, log);
  return encoding.bytes;
}

/** Like encodeReceipt, in steps: one receipt can have some hundred thousand logs, and one log a hundred megabytes. */
export function* encodeReceiptInSteps(
  receipt: BareReceipt,
  meter: StepMeter = new StepMeter(),
): Steps<Uint8Array> {
  const { logs } = receipt;
  let logsLength = 0;
  for (const log of logs) {
    logsLength += sizeOfLog(log);
    if (meter.isFull(LOG_STEP_BYTES)) yield;
  }
  const encoding = beginEncoding(receipt, logsLength);
  for (const log of logs) {
    if (log.data.length > STEP_BYTES) encoding.end = yield* writeLongLog(encoding.bytes, encoding.end, log);
    else encoding.end = writeLog(encoding.bytes, encoding.end, log);
    if (meter.isFull(stepBytesOfLog(log))) yield;
  }
  return encoding.bytes;
}

/** What a log adds to a step that copies it (StepMeter), after the pauses within its data. */
export function stepBytesOfLog({ data }: Log): number {
  return LOG_STEP_BYTES + Math.min(data.length, STEP_BYTES);
}

/** What a log without data adds to a step. */
export const LOG_STEP_BYTES = STEP_BYTES / STEP_LOGS;

/** An encoding without its logs, which belong at `end`. */
function beginEncoding(
  { type, outcome, cumulativeGasUsed, logsBloom }: BareReceipt,
  logsLength: number,
): { readonly bytes: Uint8Array; end: number } {
  const first = "status" in outcome ? STATUS_ITEMS[outcome.status] : encodeRlpString(outcome.stateRoot);
  const gas = bigintToBytes(cumulativeGasUsed);
  const length = first.length + rlpStringSize(gas) + rlpStringSize(logsBloom) + rlpListSize(logsLength);
  const typeLength = type === 0 ? 0 : 1;
  const bytes = new Uint8Array(typeLength + rlpListSize(length));
  if (type !== 0) bytes[0] = type;
  let end = writeRlpListPrefix(bytes, typeLength, length);
  bytes.set(first, end);
  end = writeRlpString(bytes, end + first.length, gas);
  end = writeRlpString(bytes, end, logsBloom);
  return { bytes, end: writeRlpListPrefix(bytes, end, logsLength) };
}

/** Reads the consensus encoding, strictly. */
export function decodeReceipt(bytes: Uint8Array): Result<BareReceipt, "malformedReceipt"> {
  const first = bytes[0] ?? 0;
  const isTyped = first >= 1 && first <= 4;
  try {
    const items = readRlp(isTyped ? bytes.subarray(1) : bytes, RECEIPT_DEPTH);
    const [outcome, gas, logsBloom, logs] = membersOf(items, 4);
    const bloom = stringAt(logsBloom);
    if (bloom.length !== 256) throw new RangeError("a bloom filter has 256 bytes");
    if (!Array.isArray(logs)) throw new RangeError("the logs are a list");
    return ok({
      type: isTyped ? (first as TransactionType) : 0,
      outcome: outcomeOf(stringAt(outcome)),
      cumulativeGasUsed: scalarOf(stringAt(gas)),
      logsBloom: bloom,
      logs: logs.map(decodeLog),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : "not RLP";
    return fail("peer", "malformedReceipt", message);
  }
}

/** Nesting of lists: the receipt, its logs, a log, its topics. */
const RECEIPT_DEPTH = 4;

function outcomeOf(bytes: Uint8Array): Receipt["outcome"] {
  if (bytes.length === 32) return { stateRoot: bytes };
  if (bytes.length > 1 || (bytes[0] ?? 1) !== 1) throw new RangeError("a status is 0 or 1");
  return { status: bytes.length === 0 ? 0 : 1 };
}

function decodeLog(item: RlpItem): Log {
  const [address, topics, data] = membersOf(item, 3);
  if (!Array.isArray(topics)) throw new RangeError("topics are a list");
  return {
    address: asAddress(stringAt(address)),
    topics: topics.map((topic: RlpItem) => asHash(stringAt(topic))),
    data: stringAt(data),
  };
}

function membersOf(item: RlpItem, count: number): readonly RlpItem[] {
  if (item instanceof Uint8Array || item.length !== count) throw new RangeError(`not a list of ${count}`);
  return item;
}

function stringAt(item: RlpItem | undefined): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new RangeError("a list where bytes belong");
  return item;
}

function scalarOf(bytes: Uint8Array): bigint {
  if (bytes.length > 8 || bytes[0] === 0) throw new RangeError("a number is too large or has leading zeros");
  return bytesToBigint(bytes);
}

function sizeOfLog(log: Log): number {
  return rlpListSize(lengthOfLog(log));
}

/** Length in bytes of a log's encoded members. */
function lengthOfLog({ address, topics, data }: Log): number {
  return rlpStringSize(address) + rlpListSize(lengthOfTopics(topics)) + rlpStringSize(data);
}

function lengthOfTopics(topics: Log["topics"]): number {
  let length = 0;
  for (const topic of topics) length += rlpStringSize(topic);
  return length;
}

/** Returns the index after the log. */
function writeLog(bytes: Uint8Array, at: number, log: Log): number {
  return writeRlpString(bytes, writeLogHead(bytes, at, log), log.data);
}

function* writeLongLog(bytes: Uint8Array, at: number, log: Log): Steps<number> {
  const { data } = log;
  const from = writeRlpStringPrefix(bytes, writeLogHead(bytes, at, log), data.length);
  yield* copyInSteps(bytes, from, data);
  return from + data.length;
}

/** Writes a log up to its data. */
function writeLogHead(bytes: Uint8Array, at: number, log: Log): number {
  const { address, topics } = log;
  let end = writeRlpListPrefix(bytes, at, lengthOfLog(log));
  end = writeRlpString(bytes, end, address);
  end = writeRlpListPrefix(bytes, end, lengthOfTopics(topics));
  for (const topic of topics) end = writeRlpString(bytes, end, topic);
  return end;
}

/** A status is a number without leading zeros: 0 is empty. */
const STATUS_ITEMS = [Uint8Array.of(0x80), Uint8Array.of(1)] as const;
