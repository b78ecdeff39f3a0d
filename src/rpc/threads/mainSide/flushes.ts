import type { MainChannel } from "../messages.ts";

const FLUSH_LIMIT_MS = 200;

/**
 * A thread's counts that are about to be read, as the main thread asks for them (callerSide/metricsForwarder.ts). One request is
 * in flight at most; those who ask meanwhile share the next one.
 */
export class Flushes {
  private readonly channel: Pick<MainChannel, "send">;
  private asked = new Set<() => void>();
  private next = new Set<() => void>();
  private isInFlight = false;

  constructor(channel: Pick<MainChannel, "send">) {
    this.channel = channel;
  }

  /** Resolves when all that the thread has counted up to now has come, or after FLUSH_LIMIT_MS: a thread may be held up. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(limit);
        this.asked.delete(done);
        this.next.delete(done);
        resolve();
      };
      const limit = setTimeout(done, FLUSH_LIMIT_MS).unref();
      this.next.add(done);
      if (!this.isInFlight) this.begin();
    });
  }

  /** The thread has sent what it had. */
  flushed(): void {
    this.isInFlight = false;
    for (const done of [...this.asked]) done();
    if (this.next.size > 0) this.begin();
  }

  private begin(): void {
    this.isInFlight = true;
    [this.asked, this.next] = [this.next, new Set()];
    this.channel.send("flush", undefined);
  }
}
