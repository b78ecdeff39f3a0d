/**
 * Work that is looked for whenever somebody says so: one round at a time, and another one after it when somebody said so
 * meanwhile.
 */
export interface CoalescedTask {
  wake(): void;
  /** Settles when the round that runs now, if any, has ended. */
  settled(): Promise<void>;
}

export function createCoalescedTask(parts: {
  readonly run: () => Promise<void>;
  readonly isClosed: () => boolean;
  readonly onFailure: (error: unknown) => void;
  /** After each round, before another one may begin. */
  readonly onEnd?: () => void;
}): CoalescedTask {
  let running: Promise<void> | undefined;
  let isWakePending = false;

  function wake(): void {
    if (parts.isClosed()) return;
    // What is being done may have looked already: it is looked again afterwards.
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
