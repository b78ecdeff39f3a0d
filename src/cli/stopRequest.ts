/** The wish of whoever runs the process that it end. */
export interface StopRequest {
  /** The name of the first signal received. */
  readonly received: Promise<string>;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Under npm one Ctrl-C arrives twice, from the terminal and from npm: what follows this closely is the same wish. */
const SAME_WISH_MS = 1000;

/**
 * Listens for signals to stop. The first asks for a clean stop; another one later while that goes on ends the process
 * at once, as people expect who press Ctrl-C again. The data survives either.
 */
export function listenForStop(process: NodeJS.Process, exitCodeAtOnce: number): StopRequest {
  const received = new Promise<string>((resolve) => {
    let firstAtMs: number | undefined;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        const nowMs = performance.now();
        if (firstAtMs !== undefined && nowMs - firstAtMs > SAME_WISH_MS) process.exit(exitCodeAtOnce);
        firstAtMs ??= nowMs;
        resolve(signal);
      });
    }
  });
  return { received };
}
