import type { Clock } from "../primitives/clock.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { LOG_LEVELS, type LogLevel, type LogModule } from "./levels.ts";
import { type LogFields, type Logger, type MessageLevel, oftenBy, type RootLogger } from "./logger.ts";
import { SharedLevels } from "./sharedLevels.ts";

/** A line that another thread logs; the main thread writes it. */
export interface LogLine {
  readonly module: LogModule;
  readonly level: MessageLevel;
  readonly fields: LogFields;
  readonly message: string;
}

/**
 * The logger of a thread: passes lines that the levels admit to `post`. Fields must be values that threads can exchange,
 * errors included; a line with other values is logged without its fields.
 */
export function createRemoteLogger(
  sharedLevels: SharedArrayBuffer,
  clock: Clock,
  post: (line: LogLine) => void,
): Logger {
  const levels = new SharedLevels(sharedLevels);
  const often = oftenBy(clock);
  const loggers = new Map<LogModule, Logger>();
  const create = (module: LogModule): Logger => {
    const isEnabled = (level: MessageLevel): boolean => admits(levels.get(module), level);
    const at =
      (level: MessageLevel) =>
      (fields: LogFields, message: string): void => {
        // Warnings are kept for `ibex status` whether or not they are shown.
        const isKept = level === "warn" || level === "error";
        if (!isKept && !isEnabled(level)) return;
        try {
          post({ module, level, fields, message });
        } catch (error) {
          post({ module, level, fields: { lost: messageOf(error) }, message });
        }
      };
    const own = { error: at("error"), warn: at("warn"), debug: at("debug"), trace: at("trace"), isEnabled };
    return {
      ...{ ...own, info: at("info") },
      often: (level, message, fields) => often(own, module, level, message, fields),
      child: (name) => loggerOf(name),
    };
  };
  const loggerOf = (module: LogModule): Logger => {
    const logger = loggers.get(module) ?? create(module);
    loggers.set(module, logger);
    return logger;
  };
  return loggerOf("node");
}

/** Writes a line of another thread. */
export function writeRemoteLine(root: Pick<RootLogger, "child">, line: LogLine): void {
  root.child(line.module)[line.level](line.fields, line.message);
}

function admits(level: LogLevel, message: MessageLevel): boolean {
  const wanted = LOG_LEVELS.indexOf(message.toUpperCase() as LogLevel);
  return wanted <= LOG_LEVELS.indexOf(level);
}
