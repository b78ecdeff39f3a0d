import type { SliceLimits } from "../primitives/timeSlice.ts";

/** A job that the pool (workerPool.ts) sends to a worker. */
export interface JobMessage<Job> {
  readonly job: Job;
  /**
   * Number of the worker's answers that the pool had received when it sent this. If a later answer is of a long job, both
   * sides treat this message as withdrawn.
   */
  readonly answersSeen: number;
  /** Time that the job may take before it is given up, to be begun anew elsewhere; absent where it may take its whole time. */
  readonly slice?: SliceLimits | undefined;
}

/**
 * What a worker sends: "prepared" with its first job, once it has loaded what all jobs need; and one answer for each job
 * that was not withdrawn, in the order of the jobs.
 */
export type WorkerMessage<Result> = { readonly kind: "prepared" } | WorkerAnswer<Result>;

type WorkerAnswer<Result = unknown> =
  | { readonly kind: "done"; readonly result: Result; readonly tookMs: number }
  /** An internal error, such as damaged data; the text is for the log. */
  | { readonly kind: "failed"; readonly message: string; readonly tookMs: number }
  | { readonly kind: "sliceUsedUp"; readonly tookMs: number };

/** Whether a job was long: the worker then drops the jobs that were sent to it in advance. One that used up its slice would be. */
export function isLongJob({ kind, tookMs }: Pick<WorkerAnswer, "kind" | "tookMs">): boolean {
  return kind === "sliceUsedUp" || tookMs >= LONG_JOB_MS;
}

const LONG_JOB_MS = 20;
