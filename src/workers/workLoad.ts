/** Load of a worker pool. */
export interface WorkLoad {
  readonly threads: number;
  /** Busy threads. */
  readonly active: number;
  /** Jobs or items that no thread has started. */
  readonly waiting: number;
}
