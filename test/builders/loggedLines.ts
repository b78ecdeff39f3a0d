import type { LogLevel } from "../../src/observability/levels.ts";
import { createLogger, type RootLogger } from "../../src/observability/logger.ts";

export interface LoggedLine {
  readonly level: string;
  readonly message: string;
  readonly [fact: string]: unknown;
}

/** A logger, and what it has said so far, as a program reads it. */
export function loggedLines(level: LogLevel = "INFO"): {
  readonly logger: RootLogger;
  readonly lines: readonly LoggedLine[];
} {
  const lines: LoggedLine[] = [];
  const settings = { level, moduleLevels: {}, format: "json", isColored: false } as const;
  const logger = createLogger(settings, { write: (line) => lines.push(JSON.parse(line) as LoggedLine) });
  return { logger, lines };
}
