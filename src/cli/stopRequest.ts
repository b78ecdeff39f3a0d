/** A request by signal to stop the process. */
export interface StopRequest {
  /** The name of the first signal received. */
  readonly received: Promise<string>;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Under npm one Ctrl-C arrives twice, from the terminal and from npm; signals this close count as one request. */
const SAME_REQUEST_MS = 1000;

/**
 * Listens for stop signals. The first requests a clean stop; a later one ends the process at once, as users who press
 * Ctrl-C again expect. The data on disk stays consistent either way.
 */
export function listenForStop(process: NodeJS.Process, exitCodeAtOnce: number): StopRequest {
  const received = new Promise<string>((resolve) => {
    let firstAtMs: number | undefined;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        const nowMs = performance.now();
        if (firstAtMs !== undefined && nowMs - firstAtMs > SAME_REQUEST_MS) process.exit(exitCodeAtOnce);
        firstAtMs ??= nowMs;
        resolve(signal);
      });
    }
  });
  return { received };
}
