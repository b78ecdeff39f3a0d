/** The time that inline calls take in the current cycle of the event loop. */
export class CallSlice {
  private isOpen = false;
  private spentMs = 0;

  /** Begins a slice, until the next cycle of the event loop, unless one is open. */
  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.spentMs = 0;
    setImmediate(() => {
      this.isOpen = false;
    });
  }

  spend(ms: number): void {
    this.spentMs += ms;
  }

  get isUsedUp(): boolean {
    return this.isOpen && this.spentMs >= SLICE_MS;
  }
}

/** Time that calls may take in one event-loop cycle; the same as for a batch of other requests. */
export const SLICE_MS = 5;
