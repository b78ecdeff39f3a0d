import { parentPort } from "node:worker_threads";
import { expectDefined } from "../primitives/assert.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { createMutex } from "../primitives/mutex.ts";
import { comeAfterBlocks } from "./threadPriority.ts";
import { LONG_JOB_MS, type ThreadAnswer, type ThreadOrder } from "./workerProtocol.ts";

export interface ThreadWork<Job, Result> {
  /** Loads what takes long, with the first job, whose time limit does not include it. */
  prepare(): Promise<void>;
  /** What it throws is broken machinery, and goes to the log. */
  perform(job: Job): Promise<Result>;
  /** Bytes of the result that are handed over, not copied. */
  handedOver?(result: Result): readonly ArrayBuffer[];
}

/**
 * The thread's side of killableThreads.ts: says that it is ready, and answers each job, in their order. A job may have to
 * wait (for code that is loaded at its first use), and the next one must not overtake it. After a long job those are not
 * begun that were sent before its answer: somebody else's may come first.
 */
export function runJobs<Job, Result>({ prepare, perform, handedOver }: ThreadWork<Job, Result>): void {
  const port = expectDefined(parentPort, "the port of a worker thread");
  comeAfterBlocks();
  const mutex = createMutex();
  let isPrepared = false;
  let answers = 0;
  let answersUpToLong = 0;
  const answer = (message: ThreadAnswer<Result>, moved: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, [...moved]);
  const runOne = async ({ job, answersSeen }: ThreadOrder<Job>): Promise<void> => {
    if (answersSeen < answersUpToLong) return;
    let begunAtMs = performance.now();
    const prepareAndRun = async (): Promise<Result> => {
      if (!isPrepared) {
        await prepare();
        isPrepared = true;
        answer({ kind: "prepared" });
        begunAtMs = performance.now();
      }
      return perform(job);
    };
    const ended = await prepareAndRun().then(
      (result) => ({ kind: "done", result }) as const,
      (error: unknown) => ({ kind: "failed", message: messageOf(error) }) as const,
    );
    const isLong = performance.now() - begunAtMs >= LONG_JOB_MS;
    answers++;
    if (isLong) answersUpToLong = answers;
    answer({ ...ended, isLong }, ended.kind === "done" ? handedOver?.(ended.result) : []);
  };
  port.on("message", (order: ThreadOrder<Job>) => void mutex.runExclusive(() => runOne(order)));
  answer({ kind: "ready" });
}
