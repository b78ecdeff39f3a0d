import { setImmediate as nextTurn } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { assert, expectDefined } from "../primitives/assert.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import type { JsonPiece } from "../primitives/jsonPieces.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { lowerThreadPriority } from "../workers/threadPriority.ts";
import { createLogPieces, type LogPieces } from "./logPieces.ts";
import type { BlockRange, LogCriteria } from "./logQuery.ts";
import { ChainMoved, scanLogs } from "./logScan.ts";

/** What the thread is started with. */
export interface LogSearchWorkerData {
  readonly databasePath: string;
  readonly bloomFolder: string;
}

export type LogSearchOrder =
  | {
      readonly kind: "find";
      readonly id: number;
      readonly criteria: LogCriteria;
      readonly range: BlockRange;
    }
  /** Nobody waits for the answer any more. */
  | { readonly kind: "abandon"; readonly id: number };

/** What the thread says of a search: pieces of the answer, then its end. */
export type LogSearchNews =
  | { readonly kind: "piece"; readonly id: number; readonly json: JsonPiece }
  | { readonly kind: "found" | "tooManyLogs"; readonly id: number }
  /** Broken machinery, such as damaged data; the text is for the log. */
  | { readonly kind: "failed"; readonly id: number; readonly message: string }
  | { readonly kind: "unsound"; readonly segment: number };

/**
 * The thread that searches for logs (logSearch.ts). Searches take turns of some milliseconds, so that a short one is not
 * kept by a long one. What has been found waits here until the search is over; once that is much, the search goes on alone
 * among those that have found much.
 */
const port = expectDefined(parentPort, "the port of a worker thread");
lowerThreadPriority();
const { databasePath, bloomFolder } = workerData as LogSearchWorkerData;
const database = await openLevelDatabase({ path: databasePath, readOnlyThread: true });

/** Searches under way; false once abandoned. */
const wanted = new Map<number, boolean>();

port.on("message", (order: LogSearchOrder) => {
  if (order.kind === "abandon") {
    if (wanted.has(order.id)) wanted.set(order.id, false);
    return;
  }
  wanted.set(order.id, true);
  find(order)
    .catch((error: unknown) => tell({ kind: "failed", id: order.id, message: messageOf(error) }))
    .finally(() => wanted.delete(order.id));
});

type FindOrder = Extract<LogSearchOrder, { kind: "find" }>;

async function find(order: FindOrder): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const pass = createPass();
    try {
      return await search(order, pass);
    } catch (error) {
      if (!(error instanceof ChainMoved) || attempt === ATTEMPTS) throw error;
    } finally {
      pass.leave();
    }
  }
}

/** A chain that is rewound this often during one search is being worked on by its operator. */
const ATTEMPTS = 3;

async function search({ id, criteria, range }: FindOrder, pass: Pass): Promise<void> {
  const pieces = createLogPieces();
  let isTooMuch = false;
  await scanLogs({ database, bloomFolder }, criteria, range, {
    async take(logs) {
      for (let start = 0; start < logs.length && !isTooMuch; start += LOGS_PER_PIECE) {
        isTooMuch = !pieces.add(logs.slice(start, start + LOGS_PER_PIECE));
        if (start > 0) await nextTurn();
      }
      if (pieces.characters > MUCH_CHARACTERS) await pass.enter();
    },
    isOver: () => isTooMuch || wanted.get(id) !== true,
    onUnsound: (segment) => tell({ kind: "unsound", segment }),
  });
  if (isTooMuch) tell({ kind: "tooManyLogs", id });
  else if (wanted.get(id) === true) await tellFound(id, pieces);
}

async function tellFound(id: number, found: LogPieces): Promise<void> {
  /** Few logs, so that they fit one piece of news. */
  let text = "";
  for (const piece of found.finish()) {
    if (typeof piece === "string") {
      text = text === "" ? piece : `${text},${piece}`;
      continue;
    }
    if (text !== "") tellText(id, text);
    text = "";
    handOver(id, piece);
    await nextTurn();
  }
  if (text !== "") tellText(id, text);
  tell({ kind: "found", id });
}

function tellText(id: number, text: string): void {
  if (text.length < HANDED_OVER_CHARACTERS) {
    tell({ kind: "piece", id, json: text });
    return;
  }
  const bytes = Buffer.from(new ArrayBuffer(text.length));
  bytes.write(text, "latin1");
  handOver(id, bytes);
}

/** Bytes that are handed over cost the other thread nothing. Theirs is a buffer of their own. */
function handOver(id: number, bytes: Uint8Array): void {
  const { buffer } = bytes;
  assert(buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length, "bytes of their own");
  port.postMessage({ kind: "piece", id, json: bytes } satisfies LogSearchNews, [buffer]);
}

interface Pass {
  enter(): Promise<void>;
  leave(): void;
}

/** Those who wait to be let in, behind the one who is. */
const queue: (() => void)[] = [];
let isTaken = false;

/** Lets one in at a time. */
function createPass(): Pass {
  let isIn = false;
  return {
    async enter() {
      if (isIn) return;
      isIn = true;
      if (isTaken) await new Promise<void>((resolve) => queue.push(resolve));
      isTaken = true;
    },
    leave() {
      if (!isIn) return;
      isIn = false;
      isTaken = false;
      queue.shift()?.();
    },
  };
}

function tell(news: LogSearchNews): void {
  port.postMessage(news);
}

const LOGS_PER_PIECE = 500;
const MUCH_CHARACTERS = 2 * 1024 * 1024;
const HANDED_OVER_CHARACTERS = 16 * 1024;
