/** The wish of whoever runs the process that it end. */
export interface StopRequest {
  /** The name of the first signal received. */
  readonly received: Promise<string>;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Listens for signals to stop. The first asks for a clean stop; a second one while that goes on ends the process at
 * once, as people who press Ctrl-C twice expect. The data survives either.
 */
export function listenForStop(process: NodeJS.Process, exitCodeAtOnce: number): StopRequest {
  const received = new Promise<string>((resolve) => {
    let isStopping = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (isStopping) process.exit(exitCodeAtOnce);
        isStopping = true;
        resolve(signal);
      });
    }
  });
  return { received };
}
