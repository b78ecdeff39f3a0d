import { setTimeout as sleep } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { reportLoaded } from "../../workers/loadedMessage.ts";
import { openWorkerPort } from "../../workers/workerPort.ts";
import { openLevelDatabase } from "../leveldb/levelDatabase.ts";
import { BlockRemoval, type RemovalProgress } from "./blockRemoval.ts";

interface BlockRemovalWorkerData {
  /** Folder of the database, which the main thread has open and writes. */
  readonly path: string;
}

/** `until` is the later start of the blocks; "close" ends the work. */
export type BlockRemovalCommand = { readonly until: bigint } | "close";

export interface BlockRemovalReport extends RemovalProgress {
  /** True when nothing is left to remove before the start of the blocks. */
  readonly isDone: boolean;
}

/** Worker that removes old blocks (blockRemoval.ts), until "close" or an exception ends it. */
const port = openWorkerPort();
reportLoaded(port);
const { path } = workerData as BlockRemovalWorkerData;

let until = 0n;
let hasNews = false;
let isClosing = false;
let wake: () => void = () => undefined;

port.on("message", (command: BlockRemovalCommand) => {
  hasNews = true;
  if (command === "close") isClosing = true;
  else until = command.until;
  wake();
});

async function work(): Promise<void> {
  const database = await openLevelDatabase({ path, isWritingThread: true });
  const removal = new BlockRemoval(database);
  try {
    for (let reportedAtMs = 0; !isClosing; ) {
      hasNews = false;
      removal.startMoved(until);
      const startMs = performance.now();
      const isMore = await removal.step();
      const hasCompacted = !isClosing && (await removal.compactSome(!isMore));
      const isDone = !isMore && !hasCompacted;
      if (isDone || performance.now() - reportedAtMs > REPORT_MS) {
        port.postMessage({ ...removal.progress, isDone } satisfies BlockRemovalReport);
        reportedAtMs = performance.now();
      }
      if (isDone) await untilNews();
      else await sleep((performance.now() - startMs) * PAUSE_RATIO);
    }
  } finally {
    await database.close();
  }
}

function untilNews(): Promise<void> {
  return new Promise((resolve) => {
    wake = resolve;
    if (hasNews) resolve();
  });
}

/** Pause after each step, as a multiple of the step's time: at most a third of one core and of the disk's time. */
const PAUSE_RATIO = 2;
const REPORT_MS = 1000;

// Runs last, after all declarations. It is not awaited (loadedMessage.ts).
void work().then(() => port.close());
