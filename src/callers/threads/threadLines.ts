import type { RootLogger } from "../../observability/logger.ts";
import { type LogLine, writeRemoteLine } from "../../observability/remoteLogger.ts";

/** Warnings of one text that several threads give within this time are written once. */
const ONCE_IN_MS = 60_000;
/** Texts that are remembered. */
const MOST_TEXTS = 100;

/**
 * Writes the lines of threads that do the same work. A thread bounds its warnings by itself, such as one of a kind in a minute;
 * that others give the same one is no news.
 */
export function createThreadLines(
  logger: Pick<RootLogger, "child">,
  nowMs: () => number,
): (thread: number, line: LogLine) => void {
  const told = new Map<string, { readonly thread: number; readonly untilMs: number }>();
  return (thread, line) => {
    if (line.level === "warn") {
      const key = `${line.module} ${line.message}`;
      const before = told.get(key);
      if (before !== undefined && before.thread !== thread && nowMs() < before.untilMs) return;
      if (told.size >= MOST_TEXTS) told.clear();
      told.set(key, { thread, untilMs: nowMs() + ONCE_IN_MS });
    }
    writeRemoteLine(logger, line);
  };
}
