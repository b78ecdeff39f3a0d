import { workerData } from "node:worker_threads";
import { assert } from "../primitives/assert.ts";
import { dropOldest } from "../primitives/boundedCache.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import type { Requester } from "../primitives/requester.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { BlockRemoved } from "../types/blockRemoved.ts";
import { threadCpuMs } from "../workers/threadCpuTime.ts";
import { openWorkerPort, receiveMessages } from "../workers/workerPort.ts";
import { LargeResults } from "./largeResults.ts";
import { LogPieces } from "./logJson.ts";
import type { BlockRange } from "./logQuery.ts";
import { ChainMoved, scanLogs } from "./logScan.ts";
import { type PackedCriteria, unpackCriteria } from "./packedCriteria.ts";
import { SearchTurns, type TurningSearch } from "./searchTurns.ts";

/** The worker's start data. */
export interface LogSearchWorkerData {
  readonly databasePath: string;
  readonly bloomFolder: string;
}

export type LogSearchCommand =
  | {
      readonly kind: "find";
      readonly id: number;
      readonly criteria: PackedCriteria;
      readonly range: BlockRange;
      readonly remoteHost: string;
      /** Number of the client. */
      readonly client: number;
      /** Time after which the search is given up, to be restarted; undefined if it runs to its end. */
      readonly sliceMs: number | undefined;
    }
  /** The requester is gone. */
  | { readonly kind: "abandon"; readonly id: number };

/** The worker's messages about a search: pieces of the answer, then how it ended. */
export type LogSearchMessage =
  | { readonly kind: "piece"; readonly id: number; readonly json: JsonPiece }
  /** `tookMs` is how long it had a processor. */
  | { readonly kind: SearchEndKind; readonly id: number; readonly tookMs: number }
  /** An internal error, such as damaged data; the text is for the log. */
  | { readonly kind: "failed"; readonly id: number; readonly message: string; readonly tookMs: number }
  | { readonly kind: "invalidSegment"; readonly segment: number };

/**
 * Worker that searches for logs (logSearch.ts). Searches run concurrently in slices of some milliseconds, in turn
 * (searchTurns.ts), so that a long one does not block a short one. Results are collected here until the search ends; only
 * one of the searches with large results runs at a time.
 */
const port = openWorkerPort();
const { databasePath, bloomFolder } = workerData as LogSearchWorkerData;
const database = await openLevelDatabase({ path: databasePath, readOnlyThread: true });

/** Running searches; false once abandoned. */
const isWanted = new Map<number, boolean>();
const largeResults = new LargeResults<number>();
const turns = new SearchTurns({ nowMs: () => performance.now(), cpuMs: threadCpuMs });

function receive(command: LogSearchCommand): void {
  if (command.kind === "abandon") {
    if (isWanted.has(command.id)) isWanted.set(command.id, false);
    largeResults.giveUp(command.id);
    return;
  }
  isWanted.set(command.id, true);
  const search = { requester: requesterOf(command), isQuick: command.sliceMs !== undefined, usedMs: 0 };
  find(command, search)
    .catch((error: unknown) => ({ kind: "failed", message: messageOf(error) }) as const)
    .then((end) => {
      turns.end(search);
      if (end !== undefined) send({ ...end, id: command.id, tookMs: search.usedMs });
    })
    .finally(() => isWanted.delete(command.id));
}

/** The clients of searches by their numbers, the most recent at the end. */
const clients = new Map<number, object>();

function requesterOf({ remoteHost, client, id }: FindCommand): Requester {
  const known = clients.get(client) ?? {};
  clients.delete(client);
  clients.set(client, known);
  dropOldest(clients, CLIENTS_LIMIT);
  return { remoteHost, client: known, isAbandoned: () => isWanted.get(id) !== true };
}

type FindCommand = Extract<LogSearchCommand, { kind: "find" }>;

/** The end of a search as reported to its requester; undefined when the requester is gone. */
type SearchEnd = { readonly kind: SearchEndKind } | undefined;

/** How a search ended; `notStored` when a block was removed for its age meanwhile. */
type SearchEndKind = "found" | "tooManyLogs" | "sliceUsedUp" | "notStored";

async function find(command: FindCommand, turning: TurningSearch): Promise<SearchEnd> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await search(command, turning);
    } catch (error) {
      if (error instanceof BlockRemoved) return { kind: "notStored" };
      if (!(error instanceof ChainMoved) || attempt === MAX_ATTEMPTS) throw error;
    } finally {
      largeResults.end(command.id);
    }
  }
}

/** Most attempts of one search, each ended by a rewind; more rewinds mean that the operator is working on the chain. */
const MAX_ATTEMPTS = 3;

async function search(
  { id, criteria, range, sliceMs = Number.POSITIVE_INFINITY }: FindCommand,
  turning: TurningSearch,
): Promise<SearchEnd> {
  const pieces = new LogPieces();
  let isTooLarge = false;
  const isLarge = (): boolean => pieces.characters > LARGE_RESULT_CHARACTERS;
  const isSliceUsedUp = (): boolean => turning.usedMs > sliceMs || (turning.isQuick && isLarge());
  await turns.next(turning);
  await scanLogs({ database, bloomFolder }, unpackCriteria(criteria), range, {
    async take(logs) {
      isTooLarge ||= !pieces.add(logs);
      if (turning.isQuick || !isLarge() || isWanted.get(id) !== true) return;
      turns.end(turning);
      await largeResults.begin(id);
      await turns.next(turning);
    },
    isOver: () => isTooLarge || isWanted.get(id) !== true || isSliceUsedUp(),
    turn: () => turns.next(turning),
    onInvalidSegment: (segment) => send({ kind: "invalidSegment", segment }),
  });
  if (isWanted.get(id) !== true) return undefined;
  if (isTooLarge) return { kind: "tooManyLogs" };
  if (isSliceUsedUp()) return { kind: "sliceUsedUp" };
  await sendFound(id, turning, pieces);
  return { kind: "found" };
}

async function sendFound(id: number, turning: TurningSearch, found: LogPieces): Promise<void> {
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
    await turns.next(turning);
  }
  if (text !== "") sendText(id, text);
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

function send(message: LogSearchMessage): void {
  port.postMessage(message);
}

/** Number of clients remembered, so that their recent searches count. */
const CLIENTS_LIMIT = 4096;
const LARGE_RESULT_CHARACTERS = 2 * 1024 * 1024;
const TRANSFERRED_CHARACTERS = 16 * 1024;

// Messages are received from here on, when all constants of the file are initialised.
receiveMessages(port, receive);
