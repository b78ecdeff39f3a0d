interface CoalescedTaskParts {
  readonly run: () => Promise<void>;
  readonly isClosed: () => boolean;
  readonly onFailure: (error: unknown) => void;
  /** Called after each run, before the next may begin. */
  readonly onEnd?: () => void;
}

/** A task that runs on request: one run at a time, and requests during a run cause one more run after it. */
export class CoalescedTask {
  private readonly parts: CoalescedTaskParts;
  private running: Promise<void> | undefined;
  private isWakePending = false;

  constructor(parts: CoalescedTaskParts) {
    this.parts = parts;
  }

  wake(): void {
    if (this.parts.isClosed()) return;
    // The current run may have checked already: another one follows.
    this.isWakePending = this.running !== undefined;
    if (this.isWakePending) return;
    this.running = this.parts
      .run()
      .catch(this.parts.onFailure)
      .finally(() => {
        this.running = undefined;
        this.parts.onEnd?.();
        if (this.isWakePending) this.wake();
      });
  }

  /** Settles when the current run, if any, has ended. */
  async settled(): Promise<void> {
    await this.running;
  }
}
