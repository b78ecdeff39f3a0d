import { setTimeout as sleep } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { readHistoryStart } from "../../storage/historyStart.ts";
import { openLevelDatabase } from "../../storage/leveldb/levelDatabase.ts";
import { reportLoaded } from "../../workers/loadedMessage.ts";
import { openWorkerPort } from "../../workers/workerPort.ts";
import { firstVersionWithPages } from "./pageRemoval.ts";
import { removeStates } from "./stateRemoval.ts";

interface StateRemovalWorkerData {
  /** Folder of the database, which the main thread has open and writes. */
  readonly path: string;
}

/** "remove" means that the states begin later now, so earlier ones may be removed; "close" ends the work. */
export type StateRemovalCommand = "remove" | "close";

export interface StateRemovalReport {
  /** True when nothing is left to remove before the start of the states. */
  readonly isDone: boolean;
  /** Nodes that this removal has moved, and pages that it has deleted, so far. */
  readonly nodes: number;
  readonly pages: number;
  /** Number of the first block whose state may still take room on the disk. */
  readonly next: number;
}

/** Worker that removes old states (stateRemoval.ts) on each "remove", until "close". */
const port = openWorkerPort();
reportLoaded(port);
const { path } = workerData as StateRemovalWorkerData;

let isDue = false;
let isClosing = false;
let wake: () => void = () => undefined;

port.on("message", (command: StateRemovalCommand) => {
  if (command === "close") isClosing = true;
  else isDue = true;
  wake();
});

async function work(): Promise<void> {
  const database = await openLevelDatabase({ path, isWritingThread: true });
  try {
    while (!isClosing) {
      if (!isDue) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      isDue = false;
      await remove(database);
    }
  } finally {
    await database.close();
  }
}

async function remove(database: Awaited<ReturnType<typeof openLevelDatabase>>): Promise<void> {
  const start = Number(readHistoryStart(database).states);
  let nodes = 0;
  let pages = 0;
  let next = await firstVersionWithPages(database, start);
  const report = (isDone: boolean): void =>
    port.postMessage({ isDone, nodes, pages, next } satisfies StateRemovalReport);
  report(false);
  let reportedAtMs = performance.now();
  let beganMs = performance.now();
  for await (const step of removeStates(database)) {
    if (isClosing) return;
    if (step.kind === "removed") await database.compact(step);
    else {
      nodes = Math.max(nodes, step.nodes);
      pages = Math.max(pages, step.pages);
      next = step.next ?? next;
    }
    if (performance.now() - reportedAtMs > REPORT_MS) {
      report(false);
      reportedAtMs = performance.now();
    }
    await sleep(Math.min((performance.now() - beganMs) * PAUSE_RATIO, LONGEST_PAUSE_MS));
    beganMs = performance.now();
  }
  next = start;
  report(true);
}

/** Pause after each step, as a multiple of the step's time: at most half of one core and of the disk's time. */
const PAUSE_RATIO = 1;
const LONGEST_PAUSE_MS = 1000;
const REPORT_MS = 1000;

// Runs last, after all declarations. It is not awaited (loadedMessage.ts).
void work().then(() => port.close());
