/**
 * What an executed transaction leaves behind, as it costs every node after the execution: for the block's bloom, the receipts,
 * the roots and the database.
 */
export interface Effects {
  /** Cost of its logs and of the code that it stores (costOfLog); a byte of code counts as one of data. */
  readonly bytes: number;
  /** Accounts and storage slots that are no longer as they were before the block. */
  readonly changes: number;
}

/** No limit. */
export const ANY_EFFECTS: Effects = {
  bytes: Number.POSITIVE_INFINITY,
  changes: Number.POSITIVE_INFINITY,
};

/** The effects of a transfer, whose few changes are part of its own time. */
export const NO_EFFECTS: Effects = { bytes: 0, changes: 0 };

/**
 * Cost of a log after its execution, in bytes. Each log and each topic counts as many bytes as take the same time. On one core,
 * 1 MiB of data took some 10 ms, and each log and topic 2.5 µs, as much as 256 bytes.
 */
export function costOfLog(topicCount: number, dataBytes: number): number {
  return BYTES_EACH * (1 + topicCount) + dataBytes;
}

/**
 * Time to finish a transaction, in usual ones of some 20 µs. Usual effects, such as those of a token transfer, are included in
 * a transaction's own time; each further change takes as long as a usual transaction.
 */
export function loadOf({ bytes, changes }: Effects): number {
  return Math.max(1, bytes / LOAD_BYTES + Math.max(0, changes - USUAL_CHANGES));
}

/** The smallest gas for which logs cost as many bytes: a log or topic pays 375 (yellow paper, appendix G), data 8 a byte. */
export function leastGasOfLogs(logBytes: number): bigint {
  return BigInt(Math.floor((logBytes / BYTES_EACH) * GAS_EACH));
}

/** Bytes that take as long to finish as a usual transaction: some 20 µs. */
export const LOAD_BYTES = 2048;

/** Bytes that cost as much as a log without its data, or one topic. */
const BYTES_EACH = 256;
const GAS_EACH = 375;

/** Changes that the time of a usual transaction includes. */
const USUAL_CHANGES = 8;
