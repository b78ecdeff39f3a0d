/** The comparison was stopped by a signal. */
export class Stopped extends Error {
  override name = "Stopped";
}

export class Stop {
  private readonly controller = new AbortController();

  constructor(received: Promise<unknown>) {
    void received.then(() => this.controller.abort(new Stopped("stopped")));
  }

  /** Aborted with a Stopped. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Resolves after `milliseconds`; throws Stopped at once when stopped. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.controller.signal.removeEventListener("abort", end);
        if (this.controller.signal.aborted) reject(this.controller.signal.reason);
        else resolve();
      };
      const timer = setTimeout(end, milliseconds);
      this.controller.signal.addEventListener("abort", end);
      if (this.controller.signal.aborted) end();
    });
  }
}
