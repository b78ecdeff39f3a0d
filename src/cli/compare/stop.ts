/** The comparison was stopped by a signal. */
export class Stopped extends Error {
  override name = "Stopped";
}

export interface Stop {
  /** Aborted with a Stopped. */
  readonly signal: AbortSignal;
  /** Resolves after `milliseconds`; throws Stopped at once when stopped. */
  sleep(milliseconds: number): Promise<void>;
}

export function createStop(received: Promise<unknown>): Stop {
  const controller = new AbortController();
  void received.then(() => controller.abort(new Stopped("stopped")));
  const { signal } = controller;
  return {
    signal,
    sleep: (milliseconds) =>
      new Promise((resolve, reject) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          if (signal.aborted) reject(signal.reason);
          else resolve();
        };
        const timer = setTimeout(end, milliseconds);
        signal.addEventListener("abort", end);
        if (signal.aborted) end();
      }),
  };
}
