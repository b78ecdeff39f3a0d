/** A task that runs on request: one run at a time, and requests during a run cause one more run after it. */
interface CoalescedTask {
  wake(): void;
  /** Settles when the current run, if any, has ended. */
  settled(): Promise<void>;
}

export function createCoalescedTask(parts: {
  readonly run: () => Promise<void>;
  readonly isClosed: () => boolean;
  readonly onFailure: (error: unknown) => void;
  /** Called after each run, before the next may begin. */
  readonly onEnd?: () => void;
}): CoalescedTask {
  let running: Promise<void> | undefined;
  let isWakePending = false;

  function wake(): void {
    if (parts.isClosed()) return;
    // The current run may have checked already: another one follows.
    isWakePending = running !== undefined;
    if (isWakePending) return;
    running = parts
      .run()
      .catch(parts.onFailure)
      .finally(() => {
        running = undefined;
        parts.onEnd?.();
        if (isWakePending) wake();
      });
  }

  return {
    wake,
    async settled() {
      await running;
    },
  };
}
