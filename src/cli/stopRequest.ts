import { isatty } from "node:tty";

/** A request by signal to stop the process. */
export interface StopRequest {
  /** The name of the first signal received. */
  readonly received: Promise<string>;
}

/** Decides what a SIGHUP does; `isTerminalClosed` when it announces that the terminal on which the program began was closed. */
export type OnHangUp = (isTerminalClosed: boolean) => "stop" | "stay";

/** Under npm one Ctrl-C arrives twice, from the terminal and from npm; signals this close count as one request. */
const SAME_REQUEST_MS = 1000;

/**
 * Listens for stop signals. The first requests a clean stop; a later one ends the process at once, as users who press Ctrl-C
 * again expect. The data on disk stays consistent either way. SIGHUP is one of them, unless `onHangUp` keeps the process
 * running.
 */
export function listenForStop(
  process: NodeJS.Process,
  exitCodeAtOnce: number,
  onHangUp: OnHangUp = () => "stop",
): StopRequest {
  const beganOnTerminal = isatty(STANDARD_INPUT);
  const received = new Promise<string>((resolve) => {
    let firstAtMs: number | undefined;
    const stop = (signal: string): void => {
      const nowMs = performance.now();
      if (firstAtMs !== undefined && nowMs - firstAtMs > SAME_REQUEST_MS) process.exit(exitCodeAtOnce);
      firstAtMs ??= nowMs;
      resolve(signal);
    };
    process.on("SIGINT", stop);
    process.on("SIGTERM", stop);
    process.on("SIGHUP", (signal) => {
      // A closed terminal is no longer a terminal.
      if (onHangUp(beganOnTerminal && !isatty(STANDARD_INPUT)) === "stop") stop(signal);
    });
  });
  return { received };
}

const STANDARD_INPUT = 0;
