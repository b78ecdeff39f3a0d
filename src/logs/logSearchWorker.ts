import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { assert } from "../primitives/assert.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { openWorkerPort, receiveMessages } from "../workers/workerPort.ts";
import { createLogPieces, type LogPieces } from "./logJson.ts";
import type { BlockRange, LogCriteria } from "./logQuery.ts";
import { ChainMoved, scanLogs } from "./logScan.ts";

/** What the worker is started with. */
export interface LogSearchWorkerData {
  readonly databasePath: string;
  readonly bloomFolder: string;
}

export type LogSearchCommand =
  | {
      readonly kind: "find";
      readonly id: number;
      readonly criteria: LogCriteria;
      readonly range: BlockRange;
    }
  /** The requester is gone. */
  | { readonly kind: "abandon"; readonly id: number };

/** What the worker sends about a search: pieces of the answer, then how it ended. */
export type LogSearchMessage =
  | { readonly kind: "piece"; readonly id: number; readonly json: JsonPiece }
  | { readonly kind: "found" | "tooManyLogs"; readonly id: number }
  /** An internal error, such as damaged data; the text is for the log. */
  | { readonly kind: "failed"; readonly id: number; readonly message: string }
  | { readonly kind: "invalidSegment"; readonly segment: number };

/**
 * Worker that searches for logs (logSearch.ts). Searches run concurrently in slices of some milliseconds, so that a long
 * one does not block a short one. Results are collected here until the search ends; of the searches with large results,
 * only one goes on at a time.
 */
const port = openWorkerPort();
const { databasePath, bloomFolder } = workerData as LogSearchWorkerData;
const database = await openLevelDatabase({ path: databasePath, readOnlyThread: true });

/** Running searches; false once abandoned. */
const isWanted = new Map<number, boolean>();

function receive(command: LogSearchCommand): void {
  if (command.kind === "abandon") {
    if (isWanted.has(command.id)) isWanted.set(command.id, false);
    return;
  }
  isWanted.set(command.id, true);
  find(command)
    .catch((error: unknown) => send({ kind: "failed", id: command.id, message: messageOf(error) }))
    .finally(() => isWanted.delete(command.id));
}

type FindCommand = Extract<LogSearchCommand, { kind: "find" }>;

async function find(command: FindCommand): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const permit = createLargeResultPermit();
    try {
      return await search(command, permit);
    } catch (error) {
      if (!(error instanceof ChainMoved) || attempt === MAX_ATTEMPTS) throw error;
    } finally {
      permit.release();
    }
  }
}

/** Attempts of one search, each ended by a rewind; more rewinds mean that the operator is working on the chain. */
const MAX_ATTEMPTS = 3;

async function search({ id, criteria, range }: FindCommand, permit: LargeResultPermit): Promise<void> {
  const pieces = createLogPieces();
  let isTooLarge = false;
  await scanLogs({ database, bloomFolder }, criteria, range, {
    async take(logs) {
      for (let start = 0; start < logs.length && !isTooLarge; start += LOGS_PER_PIECE) {
        isTooLarge = !pieces.add(logs.slice(start, start + LOGS_PER_PIECE));
        if (start > 0) await yieldToEventLoop();
      }
      if (pieces.characters > LARGE_RESULT_CHARACTERS) await permit.acquire();
    },
    isOver: () => isTooLarge || isWanted.get(id) !== true,
    onInvalidSegment: (segment) => send({ kind: "invalidSegment", segment }),
  });
  if (isTooLarge) send({ kind: "tooManyLogs", id });
  else if (isWanted.get(id) === true) await sendFound(id, pieces);
}

async function sendFound(id: number, found: LogPieces): Promise<void> {
  /** Joined pieces of text, so that few logs take one message. */
  let text = "";
  for (const piece of found.finish()) {
    if (typeof piece === "string") {
      text = text === "" ? piece : `${text},${piece}`;
      continue;
    }
    if (text !== "") sendText(id, text);
    text = "";
    transfer(id, piece);
    await yieldToEventLoop();
  }
  if (text !== "") sendText(id, text);
  send({ kind: "found", id });
}

function sendText(id: number, text: string): void {
  if (text.length < TRANSFERRED_CHARACTERS) {
    send({ kind: "piece", id, json: text });
    return;
  }
  const bytes = Buffer.from(new ArrayBuffer(text.length));
  bytes.write(text, "latin1");
  transfer(id, bytes);
}

/** Transfers bytes, which costs the main thread nothing. They must have a buffer of their own. */
function transfer(id: number, bytes: Uint8Array): void {
  const { buffer } = bytes;
  assert(
    buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length,
    "transferred bytes have a buffer of their own",
  );
  port.postMessage({ kind: "piece", id, json: bytes } satisfies LogSearchMessage, [buffer]);
}

/** Permit of one search to collect a large result. */
interface LargeResultPermit {
  /** Waits until no other search holds the permit. */
  acquire(): Promise<void>;
  release(): void;
}

/** Searches that wait for the permit. */
const queue: (() => void)[] = [];
let isHeld = false;

function createLargeResultPermit(): LargeResultPermit {
  let hasPermit = false;
  return {
    async acquire() {
      if (hasPermit) return;
      hasPermit = true;
      if (isHeld) await new Promise<void>((resolve) => queue.push(resolve));
      isHeld = true;
    },
    release() {
      if (!hasPermit) return;
      hasPermit = false;
      isHeld = false;
      queue.shift()?.();
    },
  };
}

function send(message: LogSearchMessage): void {
  port.postMessage(message);
}

const LOGS_PER_PIECE = 500;
const LARGE_RESULT_CHARACTERS = 2 * 1024 * 1024;
const TRANSFERRED_CHARACTERS = 16 * 1024;

// At the end of the file, where all constants are initialised.
receiveMessages(port, receive);
