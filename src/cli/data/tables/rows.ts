import { BadAnswer, type JsonObject, objectOf, objectsOf } from "../answers.ts";
import type { BlockData } from "./blockData.ts";

export interface TransactionRow {
  readonly data: BlockData;
  readonly transaction: JsonObject;
  /** The receipt; undefined for a table that does not need receipts. */
  readonly receipt: JsonObject | undefined;
}

export interface LogRow {
  readonly data: BlockData;
  readonly log: JsonObject;
  readonly topics: readonly unknown[];
}

export interface TraceRow {
  readonly data: BlockData;
  readonly trace: JsonObject;
  readonly action: JsonObject;
  /** The result; empty for a trace without one. */
  readonly result: JsonObject;
  /** Index in trace_block's list. */
  readonly index: number;
  /** Indexes of the calls from the transaction to this one. */
  readonly path: readonly unknown[];
  /** Whether the call, or an outer one, failed, so that its effects were reverted. */
  readonly isUndone: boolean;
}

export function* transactionRows(data: BlockData): Iterable<TransactionRow> {
  for (const [index, transaction] of data.transactions.entries())
    yield { data, transaction, receipt: data.receipts[index] };
}

export function* logRows(data: BlockData): Iterable<LogRow> {
  for (const receipt of data.receipts)
    for (const log of objectsOf(receipt["logs"], "the list of logs"))
      yield { data, log, topics: listOf(log["topics"], "the list of topics") };
}

/** Rows for traces; trace_block lists a call before its inner calls. */
export function* traceRows(data: BlockData): Iterable<TraceRow> {
  let failed: string | undefined;
  for (const [index, trace] of data.traces.entries()) {
    const path = listOf(trace["traceAddress"], "traceAddress");
    const place = `${String(trace["transactionHash"])},${path.join()},`;
    if (failed !== undefined && !place.startsWith(failed)) failed = undefined;
    if (typeof trace["error"] === "string") failed ??= path.length === 0 ? place.slice(0, -1) : place;
    const { action, result } = trace;
    yield {
      data,
      trace,
      action: objectOf(action, "an action"),
      result: result === null || result === undefined ? {} : objectOf(result, "a result"),
      index,
      path,
      isUndone: failed !== undefined,
    };
  }
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new BadAnswer(`${what} is not a list`);
}
