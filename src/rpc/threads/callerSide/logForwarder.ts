import type { LogLine } from "../../../observability/remoteLogger.ts";
import { addWithin, type SharedTotals } from "../../server/sharedTotals.ts";

/** Log lines of all threads that the main thread has not written, and about their bytes. */
export const LINES_WAITING = 10_000;
export const LINE_BYTES_WAITING = 8 * 1024 * 1024;

type LineTotals = Pick<SharedTotals, "logLines" | "logBytes">;

/** Sends a thread's log lines to the main thread. What it cannot take, because it is held up, is lost, which a line tells later. */
export function createLogForwarder(
  post: (line: LogLine, bytes: number) => void,
  { logLines, logBytes }: LineTotals,
): (line: LogLine) => void {
  let lost = 0;

  function send(line: LogLine): boolean {
    const bytes = sizeOf(line);
    if (!addWithin(logLines, 1, LINES_WAITING)) return false;
    if (addWithin(logBytes, bytes, LINE_BYTES_WAITING)) {
      try {
        post(line, bytes);
        return true;
      } catch (error) {
        lineWritten({ logLines, logBytes }, bytes);
        throw error;
      }
    }
    logLines.add(-1);
    return false;
  }

  /** After a loss, lines are lost until half of those that wait are written: they are told of once, not one by one. */
  const isClear = (): boolean => logLines.all <= LINES_WAITING / 2 && logBytes.all <= LINE_BYTES_WAITING / 2;

  return (line) => {
    if (lost > 0 && isClear() && send({ ...LOST, facts: { lines: lost } })) lost = 0;
    if (lost > 0 || !send(line)) lost++;
  };
}

/** Takes off a line that was written. */
export function lineWritten({ logLines, logBytes }: LineTotals, bytes: number): void {
  logLines.add(-1);
  logBytes.add(-bytes);
}

const LOST = {
  module: "node",
  level: "warn",
  message: "lines of a thread for callers are lost: the thread that writes the log is held up",
} as const;

/** About the bytes of a line; of its facts, texts and errors alone can be long. */
function sizeOf({ message, facts }: LogLine): number {
  let size = LINE_BYTES + message.length;
  for (const fact of Object.values(facts)) {
    if (typeof fact === "string") size += fact.length;
    else if (fact instanceof Error) size += fact.message.length + (fact.stack?.length ?? 0);
  }
  return size;
}

/** Counted for each line. */
const LINE_BYTES = 256;
