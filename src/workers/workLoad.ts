/** How busy a pool of threads is. */
export interface WorkLoad {
  readonly threads: number;
  /** Threads at work. */
  readonly active: number;
  /** Pieces of work that no thread has begun. */
  readonly waiting: number;
}
