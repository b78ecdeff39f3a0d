import { OutOfTime } from "./yieldPolicy.ts";

/**
 * Cost of a log after its execution, on every node, in bytes: for the block's bloom, the encoding and the root of its
 * receipts, and the database. Each log and each topic counts as many bytes as take the same time. On one core, 1 MiB of data
 * took some 10 ms, and each log and topic 2.5 µs, as much as 256 bytes.
 */
export function costOfLog(topicCount: number, dataBytes: number): number {
  return BYTES_EACH * (1 + topicCount) + dataBytes;
}

/**
 * Time to finish a transaction whose logs cost `logBytes`, in usual transactions. Usual logs, such as a token transfer's,
 * are included in a transaction's own time.
 */
export function loadOf(logBytes: number): number {
  return Math.max(1, logBytes / LOAD_BYTES);
}

/** The smallest gas for which logs cost as many bytes: a log or topic pays 375 (yellow paper, appendix G), data 8 a byte. */
export function leastGasOfLogs(logBytes: number): bigint {
  return BigInt(Math.floor((logBytes / BYTES_EACH) * GAS_EACH));
}

/** A transaction was stopped before a log that would make its logs cost more than its block has room for. */
export class LogsBeyondLimit extends OutOfTime {
  override name = "LogsBeyondLimit";
  /** Cost of its logs, with the refused one. Logs of reverted calls do not count. */
  readonly neededBytes: number;

  constructor(neededBytes: number) {
    super("the logs of a transaction cost more than its block has room for");
    this.neededBytes = neededBytes;
  }
}

/** Bytes of logs that take as long to finish as a usual transaction: some 20 µs. */
export const LOAD_BYTES = 2048;

/** Bytes that cost as much as a log without its data, or one topic. */
const BYTES_EACH = 256;
const GAS_EACH = 375;
