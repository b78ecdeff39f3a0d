import type { LocatedLog } from "../chain/chain.ts";
import type { Hash } from "../primitives/hash.ts";
import { type JsonWriter, jsonText } from "../primitives/jsonWriter.ts";
import type { Log } from "../types/log.ts";

/** A log as queries, filters and subscriptions show it (json-rpc.md#logs), as JSON text. */
export function logJson(log: LocatedLog): string {
  return jsonText((writer) => writeLog(writer, log));
}

/** Several logs, separated by commas, without the brackets of a list; empty for none. */
export function logItemsJson(logs: readonly LocatedLog[]): string {
  return jsonText((writer) => {
    for (const log of logs) writeLog(writer, log);
  });
}

/** As logJson, as an item of what is being written. */
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

/** Where the logs of a receipt are. */
export interface ReceiptPlace {
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly blockHash: Uint8Array;
  readonly blockNumber: bigint;
  /** Index in the block of the receipt's first log. */
  readonly firstLogIndex: number;
}

/**
 * The logs inside a receipt (json-rpc.md#logs), as items: the same members in another order, never removed.
 * It pauses between some of them (jsonInTurns).
 */
export function* writeReceiptLogs(
  writer: JsonWriter,
  logs: readonly Log[],
  place: ReceiptPlace,
): Generator<void, void> {
  for (const [index, log] of logs.entries()) {
    if (index % LOGS_PER_STEP === LOGS_PER_STEP - 1) yield;
    writer.beginObject();
    writer.data("address", log.address);
    writeTopics(writer, log);
    writer.data("data", log.data);
    writer.quantity("blockNumber", place.blockNumber);
    writer.data("transactionHash", place.transactionHash);
    writer.quantity("transactionIndex", place.transactionIndex);
    writer.data("blockHash", place.blockHash);
    writer.quantity("logIndex", place.firstLogIndex + index);
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
