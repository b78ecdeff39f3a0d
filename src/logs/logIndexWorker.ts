import { setTimeout as sleep } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { SEGMENT_BLOCKS } from "../storage/blooms/bloomFiles.ts";
import { BloomFileWriter } from "../storage/blooms/bloomFileWriter.ts";
import { readHead } from "../storage/commitRecord.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { reportLoaded } from "../workers/loadedMessage.ts";
import { openWorkerPort } from "../workers/workerPort.ts";

/** Segments to write, except those beyond the head's. */
export interface LogIndexTask {
  readonly first: number;
  readonly last: number;
  /** Whether existing files are rewritten. */
  readonly isRewrite: boolean;
}

export interface LogIndexWorkerData {
  readonly databasePath: string;
  readonly folder: string;
  readonly task: LogIndexTask;
  /** Pause after each chunk, as a multiple of the time that it took. */
  readonly pauseRatio: number;
}

export type LogIndexReport =
  | { readonly kind: "progress"; readonly block: bigint }
  | { readonly kind: "done"; readonly written: number };

/** Worker that writes bloom files (bloomFiles.ts) and ends; a failure ends it with an exception. */
const port = openWorkerPort();
reportLoaded(port);
const { databasePath, folder, task, pauseRatio } = workerData as LogIndexWorkerData;

async function writeAll(): Promise<LogIndexReport> {
  const database = await openLevelDatabase({ path: databasePath, readOnlyThread: true });
  let written = 0;
  let startMs = performance.now();
  const pause = async (block: bigint): Promise<void> => {
    port.postMessage({ kind: "progress", block } satisfies LogIndexReport);
    await sleep((performance.now() - startMs) * pauseRatio);
    startMs = performance.now();
  };
  try {
    const writer = new BloomFileWriter(folder, database);
    for (let segment = task.first; segment <= task.last; segment++) {
      const head = readHead(database)?.number ?? -1n;
      if (BigInt(segment * SEGMENT_BLOCKS) > head) break;
      if (!task.isRewrite) {
        if (await writer.complete(segment, pause)) written++;
      } else {
        await writer.rewrite(segment, pause);
        written++;
      }
    }
  } finally {
    await database.close();
  }
  return { kind: "done", written };
}

// Runs last, after all declarations. It is not awaited (loadedMessage.ts).
void writeAll().then((report) => port.postMessage(report));
