/** What a thread of killableThreads.ts is told. */
export interface ThreadOrder<Job> {
  readonly job: Job;
  /** How many of its answers had come when this was sent. A long job after those takes the order back, on both sides. */
  readonly answersSeen: number;
}

/**
 * What a thread says: first that it is ready; with its first job that it begins that now, having loaded what all need; and
 * one answer for each job that was not taken back, in their order.
 */
export type ThreadAnswer<Result> =
  | { readonly kind: "ready" }
  | { readonly kind: "prepared" }
  | { readonly kind: "done"; readonly result: Result; readonly isLong: boolean }
  /** Broken machinery, such as damaged data; the text is for the log. */
  | { readonly kind: "failed"; readonly message: string; readonly isLong: boolean };

/** A job of this duration is long: the thread then drops the jobs that were sent to it beforehand. */
export const LONG_JOB_MS = 20;
