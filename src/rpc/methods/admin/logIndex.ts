import type { LogIndexStatus } from "../../../logs/logIndex.ts";
import { MAX_JAVA_LONG } from "../../../primitives/javaLong.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS, invalidParams } from "../../errors/errors.ts";
import { defineMethod, type Json, optional } from "../../method.ts";
import { decodeNumberOrTag, type NumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { decodeJavaLong } from "../../parameters/parameters.ts";
import { INTEGER, NUMBER_OR_TAG, OBJECT } from "../../schemas.ts";

/** The log index, under the names of Besu's log bloom cache (json-rpc.md#log-bloom-cache). */

const STATUS = { name: "status", schema: OBJECT };
const SKIPPABLE = { anyOf: [NUMBER_OR_TAG, { enum: [""] }] };
const DECIMAL = { anyOf: [INTEGER, { type: "string", pattern: "^[0-9]+$" }] };

export const adminGenerateLogBloomCache = defineMethod({
  name: "admin_generateLogBloomCache",
  namespace: "ADMIN",
  summary: "Rebuilds the log index for a range of blocks, and returns the progress.",
  parameters: [
    optional("startBlock", decodeNumberOrTag, NUMBER_OR_TAG),
    optional("endBlock", decodeNumberOrTag, NUMBER_OR_TAG),
  ],
  result: STATUS,
  ports: ["logIndex"],
  mayOverlap: "many",
  async run([start, end], context) {
    const { logIndex } = context.backend;
    const from = start === undefined ? 0n : boundOf(start);
    const to = end === undefined ? (start === undefined ? -1n : MAX_JAVA_LONG) : boundOf(end);
    const isAccepted = from >= 0n && from < to && (await logIndex.generate(from, to, context));
    return showStatus(await logIndex.status(context), isAccepted);
  },
});

export const adminLogsRemoveCache = defineMethod({
  name: "admin_logsRemoveCache",
  namespace: "ADMIN",
  summary: "Removes the log index, or those of its files that cover the given blocks.",
  parameters: [
    optional("fromBlock", decodeSkippable, SKIPPABLE),
    optional("toBlock", decodeSkippable, SKIPPABLE),
  ],
  result: STATUS,
  ports: ["chain", "logIndex"],
  mayOverlap: "many",
  async run([fromGiven, toGiven], context) {
    const { chain, logIndex } = context.backend;
    const [start, end] = [fromGiven, toGiven].map((each) => (each === "" ? undefined : each));
    const from = start === undefined ? 0n : numberOf(chain, start);
    const to = end !== undefined ? numberOf(chain, end) : start !== undefined ? from : MAX_JAVA_LONG;
    const isKnown = (number: bigint): boolean => number >= 0n && number <= chain.head.header.number;
    if (!isKnown(from) || (end !== undefined && !isKnown(to))) return ERRORS.internalError;
    if (to < from) return invalidParams("parameter 2 (toBlock) is below parameter 1 (fromBlock)");
    await logIndex.remove(from, to, context);
    return { Status: "Cache Removed" };
  },
});

export const adminLogsRepairCache = defineMethod({
  name: "admin_logsRepairCache",
  namespace: "ADMIN",
  summary: "Rebuilds the log index for all blocks before the given one.",
  parameters: [optional("startBlock", decodeDecimal, DECIMAL)],
  result: STATUS,
  ports: ["chain", "logIndex"],
  mayOverlap: "many",
  async run([start], context) {
    const { chain, logIndex } = context.backend;
    const head = chain.head.header.number;
    const before = start ?? head;
    if (before < 0n || before > head) return ERRORS.internalError;
    return { Status: (await logIndex.repair(before, context)) ? "Started" : "Already running" };
  },
});

/** Besu's code names the member `caching`, its documents and those of the networks `indexing`. */
function showStatus({ from, to, current, isIndexing }: LogIndexStatus, requestAccepted: boolean): Json {
  return {
    startBlock: toQuantity(from),
    endBlock: to === MAX_JAVA_LONG ? "latest" : toQuantity(to),
    currentBlock: toQuantity(current),
    requestAccepted,
    caching: isIndexing,
    indexing: isIndexing,
  };
}

/** A tag that means the head stands for an open end of the range, as in Besu. */
function boundOf(choice: NumberOrTag): bigint {
  if (typeof choice === "bigint") return choice;
  return choice === "earliest" ? 0n : MAX_JAVA_LONG;
}

/** An empty string skips the parameter. */
function decodeSkippable(value: unknown): NumberOrTag | "" | undefined {
  return value === "" ? "" : decodeNumberOrTag(value);
}

/** A JSON integer, or the same in decimal digits. */
function decodeDecimal(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" && /^-?\d+$/.test(value) ? decodeJavaLong(value) : undefined;
}
