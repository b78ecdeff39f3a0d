import type { LocatedLog } from "../chain/chainReader.ts";
import type { Hash } from "../primitives/hash.ts";
import { type JsonWriter, jsonText } from "../primitives/jsonWriter.ts";
import type { Log } from "../types/log.ts";

/** JSON of a log as queries, filters and subscriptions return it (json-rpc.md#logs). */
export function logJson(log: LocatedLog): string {
  return jsonText((writer) => writeLog(writer, log));
}

/** JSON of several logs, separated by commas, without the brackets of a list. */
export function logItemsJson(logs: readonly LocatedLog[]): string {
  return jsonText((writer) => {
    for (const log of logs) writeLog(writer, log);
  });
}

/** Writes a log as logJson does. */
export function writeLog(writer: JsonWriter, located: LocatedLog): void {
  writer.beginObject();
  writer.quantity("logIndex", located.logIndex);
  writer.boolean("removed", located.removed);
  writer.quantity("blockNumber", located.blockNumber);
  writer.data("blockHash", located.blockHash);
  writer.data("transactionHash", located.transactionHash);
  writer.quantity("transactionIndex", located.transactionIndex);
  writer.data("address", located.log.address);
  writer.data("data", located.log.data);
  writeTopics(writer, located.log);
  writer.endObject();
}

/** Position of a receipt, and of its first log. */
interface ReceiptPosition {
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly blockHash: Uint8Array;
  readonly blockNumber: bigint;
  /** Index in the block of the receipt's first log. */
  readonly firstLogIndex: number;
}

/**
 * Writes the logs of a receipt as list items (json-rpc.md#logs): the same members in another order, with `removed` always
 * false. The generator yields every LOGS_PER_STEP logs, and within long data.
 */
export function* writeReceiptLogs(
  writer: JsonWriter,
  logs: readonly Log[],
  position: ReceiptPosition,
): Generator<void, void> {
  for (const [index, log] of logs.entries()) {
    if (index % LOGS_PER_STEP === LOGS_PER_STEP - 1) yield;
    writer.beginObject();
    writer.data("address", log.address);
    writeTopics(writer, log);
    yield* writer.longData("data", log.data);
    writer.quantity("blockNumber", position.blockNumber);
    writer.data("transactionHash", position.transactionHash);
    writer.quantity("transactionIndex", position.transactionIndex);
    writer.data("blockHash", position.blockHash);
    writer.quantity("logIndex", position.firstLogIndex + index);
    writer.boolean("removed", false);
    writer.endObject();
  }
}

const LOGS_PER_STEP = 64;

function writeTopics(writer: JsonWriter, { topics }: Log): void {
  writer.beginList("topics");
  for (const topic of topics) writer.dataItem(topic);
  writer.endList();
}
