import { setTimeout as sleep } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { ChainView } from "../chain/view/chainView.ts";
import type { ViewLimits } from "../chain/view/limits.ts";
import { ShownHead } from "../chain/view/shownHead.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { loadInterpreter } from "../execution/blockSession.ts";
import { silentLogger } from "../observability/logger.ts";
import { bytesInFolder } from "../storage/folderBytes.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { reportLoaded } from "../workers/loadedMessage.ts";
import { takeLowestThreadPriority } from "../workers/threadPriority.ts";
import { openWorkerPort } from "../workers/workerPort.ts";
import { openIndexDatabase } from "./indexDatabase.ts";
import { Indexer, type IndexProgress } from "./indexer.ts";

/** The worker's start data. */
export interface AccountIndexWorkerData {
  /** Folders of the chain's database and of the index, both of which the main thread has open. */
  readonly chainPath: string;
  readonly indexPath: string;
  /** The chain's specification without the genesis accounts, which are not needed here. */
  readonly spec: ChainSpec;
  /** Memory of the shown head. */
  readonly shownHead: SharedArrayBuffer;
  readonly maxBytes: number;
  /** Cache sizes of its view of the chain. */
  readonly viewLimits: ViewLimits | undefined;
}

/** Commands: the head has moved, a reader has found an unreadable entry, or the work must end. */
export type AccountIndexCommand = "head" | { readonly damage: string } | "close";

/** Worker that builds the index by address (indexer.ts), until "close" or an exception ends it. */
const port = openWorkerPort();
reportLoaded(port);
takeLowestThreadPriority();
const { chainPath, indexPath, spec, shownHead, maxBytes, viewLimits } = workerData as AccountIndexWorkerData;

let hasNews = true;
let isClosing = false;
let damage: string | undefined;
let wake: () => void = () => undefined;

port.on("message", (command: AccountIndexCommand) => {
  hasNews = true;
  if (command === "close") isClosing = true;
  else if (command !== "head") damage ??= command.damage;
  wake();
});

async function work(): Promise<void> {
  const chain = await openLevelDatabase({ path: chainPath, readOnlyThread: true });
  const database = await openIndexDatabase({ path: indexPath, isWritingThread: true });
  const view = new ChainView({
    database: chain,
    spec,
    shownHead: new ShownHead(shownHead),
    logger: silentLogger,
    ...(viewLimits !== undefined && { limits: viewLimits }),
  });
  const nowMs = (): number => performance.now();
  const indexer = new Indexer({
    database,
    view,
    spec,
    maxBytes,
    nowMs,
    measure: () => bytesInFolder(indexPath),
  });
  try {
    await loadInterpreter();
    for (let reportedAtMs = 0; !isClosing; ) {
      const startMs = nowMs();
      hasNews = false;
      if (damage !== undefined) indexer.reportDamage(damage);
      damage = undefined;
      const hasWorked = await indexer.step();
      if (!hasWorked || nowMs() - reportedAtMs > REPORT_MS) {
        report(await indexer.progress());
        reportedAtMs = nowMs();
      }
      if (hasWorked) await sleep((nowMs() - startMs) * PAUSE_RATIO);
      else await untilNews();
    }
  } finally {
    view.close();
    await database.close();
    await chain.close();
  }
}

function untilNews(): Promise<void> {
  return new Promise((resolve) => {
    wake = resolve;
    if (hasNews) resolve();
  });
}

function report(progress: IndexProgress | undefined): void {
  if (progress !== undefined) port.postMessage(progress);
}

/** Pause after each step, as a multiple of the step's time: at most a third of one core. */
const PAUSE_RATIO = 2;
const REPORT_MS = 1000;

// Runs last, after all declarations. It is not awaited (loadedMessage.ts).
void work().then(() => port.close());
