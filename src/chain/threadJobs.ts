import { parentPort } from "node:worker_threads";
import { present } from "../primitives/assert.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { comeAfterBlocks } from "../primitives/threadPriority.ts";
import type { ThreadAnswer } from "./killableThreads.ts";
import { createTurns } from "./turns.ts";

export interface ThreadWork<Job, Result> {
  /** What it throws is broken machinery, and goes to the log. */
  perform(job: Job): Promise<Result>;
  /** Bytes of the result that are handed over, not copied. */
  handedOver?(result: Result): readonly ArrayBuffer[];
}

/**
 * The thread's side of killableThreads.ts: says that it is ready, and answers each job, in their order. A job may have to
 * wait (for code that is loaded at its first use), and the next one must not overtake it.
 */
export function performJobs<Job, Result>({ perform, handedOver }: ThreadWork<Job, Result>): void {
  const port = present(parentPort, "the port of a worker thread");
  comeAfterBlocks();
  const turns = createTurns();
  const answer = (message: ThreadAnswer<Result>, moved: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, [...moved]);
  port.on("message", (job: Job) => {
    turns
      .take(() => perform(job))
      .then(
        (result) => answer({ kind: "done", result }, handedOver?.(result)),
        (error: unknown) => answer({ kind: "failed", message: messageOf(error) }),
      );
  });
  answer({ kind: "ready" });
}
