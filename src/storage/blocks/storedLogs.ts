import type { Hash } from "../../primitives/hash.ts";
import { StepMeter, type Steps } from "../../primitives/steps.ts";
import type { Log } from "../../types/log.ts";
import { LOG_STEP_BYTES, stepBytesOfLog } from "../../types/receipt.ts";
import type { Database } from "../database.ts";
import { transactionHashes } from "./bodyStore.ts";
import { CHUNK_TRANSACTIONS, chunksOf } from "./chunks.ts";
import type { HeaderRecord } from "./headerStore.ts";
import { logAt, openReceiptsInSteps, passLog, passReceiptEnd, readReceiptHead } from "./receiptStore.ts";

/**
 * Whether a log matches, before it is decoded: it begins at `from` with the 20 bytes of its address, a byte with the number
 * of its topics, and the topics.
 */
export type StoredLogTest = (record: Uint8Array, from: number) => boolean;

/** A log of a block, with its position. */
export interface FoundLog {
  readonly log: Log;
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/**
 * Passes the matching logs of a block to `found`, in order. Others are not decoded: a block may have a hundred thousand of
 * them. Runs in steps, bounded by the number of logs and the bytes of the matches.
 */
export function* findLogsInSteps(
  database: Database,
  { header: { number }, transactionCount }: HeaderRecord,
  isWanted: StoredLogTest,
  found: (log: FoundLog) => void,
): Steps<void> {
  const hashOf = transactionHashes(database, number);
  const meter = new StepMeter();
  for (let chunk = 0; chunk < chunksOf(transactionCount); chunk++) {
    if (chunk > 0) yield;
    const reader = yield* openReceiptsInSteps(database, number, chunk);
    let logIndex = reader.number();
    const first = chunk * CHUNK_TRANSACTIONS;
    const end = Math.min(first + CHUNK_TRANSACTIONS, transactionCount);
    for (let transactionIndex = first; transactionIndex < end; transactionIndex++) {
      const head = readReceiptHead(reader);
      let transactionHash: Hash | undefined;
      for (let left = head.logCount; left > 0; left--) {
        const from = passLog(reader);
        let bytes = PASSED_LOG_STEP_BYTES;
        if (isWanted(reader.bytes, from)) {
          const log = logAt(reader.bytes, from);
          transactionHash ??= hashOf(transactionIndex);
          found({ log, transactionHash, transactionIndex, logIndex });
          bytes = stepBytesOfLog(log);
        }
        logIndex++;
        if (meter.isFull(bytes)) yield;
      }
      passReceiptEnd(reader, head);
    }
  }
}

/** What a log that does not match adds to a step: it takes a fraction of a microsecond. */
const PASSED_LOG_STEP_BYTES = LOG_STEP_BYTES / 4;
