import { messageOf } from "../primitives/errorMessage.ts";
import { Mutex } from "../primitives/mutex.ts";
import { beginTimeSlice, SliceUsedUp, type TimeSlice } from "../primitives/timeSlice.ts";
import { threadCpuMs } from "./threadCpuTime.ts";
import { openWorkerPort, receiveMessages } from "./workerPort.ts";
import { isLongJob, type JobMessage, type WorkerMessage } from "./workerProtocol.ts";

interface JobRunner<Job, Result> {
  /** Loads what jobs need. Runs with the first job, before its time limit starts. */
  prepare(): Promise<void>;
  /** Runs one job, within a slice if given. What it throws besides SliceUsedUp counts as an internal error and goes to the log. */
  perform(job: Job, slice: TimeSlice | undefined): Promise<Result>;
  /** Buffers of the result that are transferred, not copied. */
  transferred?(result: Result): readonly ArrayBuffer[];
}

/**
 * The worker's side of workerPool.ts: answers the jobs in order. Jobs run one at a time, since a job may wait (for
 * code that is loaded at its first use). After a long job, jobs that were sent before its answer are not started: the
 * pool may put another requester first.
 */
export function runJobs<Job, Result>({ prepare, perform, transferred }: JobRunner<Job, Result>): void {
  const port = openWorkerPort();
  const mutex = new Mutex();
  let isPrepared = false;
  let answers = 0;
  let answersAtLastLong = 0;
  const send = (message: WorkerMessage<Result>, transferList: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, [...transferList]);
  const runOne = async ({ job, answersSeen, slice: limits }: JobMessage<Job>): Promise<void> => {
    if (answersSeen < answersAtLastLong) return;
    let startedAtMs = performance.now();
    const sliceFactor = isPrepared ? 1 : COLD_SLICE_FACTOR;
    const prepareAndRun = async (): Promise<Result> => {
      if (!isPrepared) {
        await prepare();
        isPrepared = true;
        send({ kind: "prepared" });
        startedAtMs = performance.now();
      }
      const slice =
        limits === undefined
          ? undefined
          : beginTimeSlice(
              { cpuMs: limits.cpuMs * sliceFactor, longestMs: limits.longestMs * sliceFactor },
              { nowMs: () => performance.now(), cpuMs: threadCpuMs },
            );
      return perform(job, slice);
    };
    const outcome = await prepareAndRun().then(
      (result) => ({ kind: "done", result }) as const,
      (error: unknown) =>
        error instanceof SliceUsedUp
          ? ({ kind: "sliceUsedUp" } as const)
          : ({ kind: "failed", message: messageOf(error) } as const),
    );
    const tookMs = performance.now() - startedAtMs;
    answers++;
    if (isLongJob({ kind: outcome.kind, tookMs })) answersAtLastLong = answers;
    send({ ...outcome, tookMs }, outcome.kind === "done" ? transferred?.(outcome.result) : []);
  };
  receiveMessages(port, (message: JobMessage<Job>) => void mutex.runExclusive(() => runOne(message)));
}

/** The first job of a worker runs code that is not compiled yet, and may take so many slices. */
const COLD_SLICE_FACTOR = 5;
