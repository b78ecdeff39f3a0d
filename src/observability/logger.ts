import pino, { type DestinationStream } from "pino";
import { type Clock, durationClock } from "../primitives/clock.ts";
import { LOG_MODULES, type LogLevel, type LogModule } from "./levels.ts";
import { MAX_FIELD_LENGTH, OFTEN_INTERVAL_MS, OFTEN_LINES, OftenLines } from "./often.ts";
import { type RecentWarning, RecentWarnings } from "./recentWarnings.ts";
import { SharedLevels } from "./sharedLevels.ts";
import { TerminalBar, type TerminalSize } from "./terminalBar.ts";
import { createTerminalLines } from "./terminalLine.ts";
import { createTextLines } from "./textLine.ts";

/**
 * Structured fields of a log line: amounts as bigint, hashes and addresses as bytes, a thrown error as `error`, the message
 * of an error value as `message`.
 */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Logs events: fields for programs, a short sentence for people. The info level has only what an operator acts on, debug
 * what explains it.
 */
export interface Logger {
  error(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
  trace(fields: LogFields, message: string): void;
  /**
   * Logs what an outsider can provoke, within the bounds of often.ts: a limited number of lines for each message in ten
   * seconds, then how many more there were. `message` is a constant; `fields` is called only for a line that is logged, and
   * its texts are cut.
   */
  often(level: OftenLevel, message: string, fields: () => LogFields): void;
  /** True when the level is logged. Check it before collecting costly fields. */
  isEnabled(level: MessageLevel): boolean;
  /** The logger of a module; the same one for each call. */
  child(module: LogModule): Logger;
  /** Where a person looks on, the lines that show how far long work is (progress.ts). */
  readonly bar?: TerminalBar | undefined;
}

/** The parent of all loggers; it logs for the `node` module itself. */
export interface RootLogger extends Logger {
  /** Changes the level of the given modules, or of all, including those with a level of their own. */
  changeLevel(level: LogLevel, modules?: readonly LogModule[]): void;
  /** The level of a module now. */
  levelOf(module: LogModule): LogLevel;
  /** The levels of the modules, in memory that other threads read (remoteLogger.ts). */
  readonly sharedLevels: SharedArrayBuffer;
  /** The newest warnings and errors, whether or not the level shows them; the latest last. */
  recentWarnings(): readonly RecentWarning[];
}

type OftenLevel = keyof typeof OFTEN_LINES;

export type MessageLevel = "error" | "warn" | "info" | "debug" | "trace";

export interface LoggingSettings {
  readonly level: LogLevel;
  /** Modules that have a level of their own. */
  readonly moduleLevels: Readonly<Partial<Record<LogModule, LogLevel>>>;
  /** `text` is Besu's layout, `terminal` has short lines for a person, `json` one object per line for programs. */
  readonly format: "text" | "terminal" | "json";
  readonly isColored: boolean;
  /** Whether long work has a bar: on a terminal that can move its cursor. */
  readonly hasBar?: boolean;
}

/**
 * Creates a logger on standard output, or on `destination`. Lines are written synchronously in this process, so that the
 * last ones before an exit are neither lost nor delay it. In JSON the fields of every line are named as in Besu's common
 * template (options.md#log-lines): timestamp, level, thread, class (our module), message and throwable.
 */
export function createLogger(
  settings: LoggingSettings,
  destination?: DestinationStream,
  clock: Clock = durationClock,
  terminal: TerminalSize = process.stdout,
): RootLogger {
  const output = destination ?? outputTo(1);
  const bar = settings.hasBar === true ? new TerminalBar((text) => output.write(text), terminal) : undefined;
  const stream = settings.format === "json" ? output : textStream(output, settings, { terminal, bar });
  const root = pino(
    {
      level: PINO_LEVELS[settings.level],
      base: { thread: "main" },
      messageKey: "message",
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label.toUpperCase() }), log: fieldsOf },
    },
    stream,
  );
  const loggers = new Map<LogModule, pino.Logger>();
  const loggerOf = (module: LogModule): pino.Logger => {
    const known = loggers.get(module);
    if (known !== undefined) return known;
    const logger = root.child({ class: module });
    logger.level = PINO_LEVELS[settings.moduleLevels[module] ?? settings.level];
    loggers.set(module, logger);
    return logger;
  };
  const levels = new SharedLevels();
  for (const module of LOG_MODULES) {
    levels.set(module, settings.moduleLevels[module] ?? settings.level);
    loggerOf(module);
  }
  const recent = new RecentWarnings(Date.now);
  const logOften = oftenBy(clock);
  const fromPino = (logger: pino.Logger, module: LogModule): Logger => {
    const own: OftenLogger & Pick<Logger, "info"> = {
      error(fields, message) {
        recent.note("error", module, message);
        logger.error(fields, message);
      },
      warn(fields, message) {
        recent.note("warn", module, message);
        logger.warn(fields, message);
      },
      info: (fields, message) => logger.info(fields, message),
      debug: (fields, message) => logger.debug(fields, message),
      trace: (fields, message) => logger.trace(fields, message),
      isEnabled: (level) => logger.isLevelEnabled(level),
    };
    return {
      ...own,
      bar,
      often: (level, message, fields) => logOften(own, module, level, message, fields),
      child: (name) => fromPino(loggerOf(name), name),
    };
  };
  return {
    ...fromPino(loggerOf("node"), "node"),
    changeLevel(level, modules = LOG_MODULES) {
      for (const module of modules) {
        levels.set(module, level);
        loggerOf(module).level = PINO_LEVELS[level];
      }
    },
    levelOf: (module) => levels.get(module),
    sharedLevels: levels.memory,
    recentWarnings: () => recent.list(),
  };
}

/**
 * Ignores write errors (closed pipe or terminal, full disk): losing log lines must not stop the node. Lines that cannot be
 * written wait for the next one, up to a bound.
 */
export function outputTo(fileDescriptor: number): DestinationStream {
  const output = pino.destination({ dest: fileDescriptor, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  output.on("error", () => undefined);
  return output;
}

const MAX_UNWRITTEN_BYTES = 4 * 1024 ** 2;

/** The part of a logger that `often` needs. */
type OftenLogger = Pick<Logger, OftenLevel | "isEnabled">;

/** The `often` of all loggers, which share its bounds by module and message. */
export function oftenBy(clock: Clock) {
  const limit = (lines: number): OftenLines =>
    new OftenLines({ lines, intervalMs: OFTEN_INTERVAL_MS }, clock);
  const admitted = {
    error: limit(OFTEN_LINES.error),
    warn: limit(OFTEN_LINES.warn),
    debug: limit(OFTEN_LINES.debug),
    trace: limit(OFTEN_LINES.trace),
  };
  return (
    logger: OftenLogger,
    module: LogModule,
    level: OftenLevel,
    message: string,
    fields: () => LogFields,
  ): void => {
    // Errors and warnings are kept for `ibex status` whether or not they are shown.
    if (level !== "error" && level !== "warn" && !logger.isEnabled(level)) return;
    const report = (more: number): void =>
      logger[level]({ more }, `${message} (and ${more.toLocaleString("en")} more in ten seconds)`);
    if (admitted[level].admits(`${module} ${message}`, report)) logger[level](shortened(fields()), message);
  };
}

function shortened(fields: LogFields): LogFields {
  return mapValues(fields, (value) =>
    typeof value === "string" && value.length > MAX_FIELD_LENGTH
      ? `${value.slice(0, MAX_FIELD_LENGTH)}…`
      : value,
  );
}

/** Logs nothing: for tests, and for parts used without a node. */
export const silentLogger: RootLogger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  often: () => undefined,
  isEnabled: () => false,
  child: () => silentLogger,
  changeLevel: () => undefined,
  levelOf: () => "OFF",
  sharedLevels: new SharedLevels().memory,
  recentWarnings: () => [],
};

const PINO_LEVELS: Readonly<Record<LogLevel, string>> = {
  OFF: "silent",
  ERROR: "error",
  WARN: "warn",
  INFO: "info",
  DEBUG: "debug",
  TRACE: "trace",
  ALL: "trace",
};

function textStream(
  destination: DestinationStream,
  { format, isColored }: LoggingSettings,
  { terminal, bar }: { readonly terminal: TerminalSize; readonly bar: TerminalBar | undefined },
): DestinationStream {
  const textOf =
    format === "terminal"
      ? createTerminalLines({ isColored, columns: () => terminal.columns })
      : createTextLines({ isColored });
  const write = (line: string): void => destination.write(textOf(JSON.parse(line)));
  return { write: bar === undefined ? write : (line) => bar.above(() => write(line)) };
}

/**
 * Converts fields to those of a JSON line. An error becomes a throwable, with its stack and its causes. A field with the
 * name of one that every line has is renamed, because JSON readers keep only the last of two members with one name.
 */
function fieldsOf({ error, ...others }: LogFields): Record<string, unknown> {
  const fields = mapValues(others, serializable);
  for (const [reserved, replacement] of RENAMED_FIELDS) {
    if (!Object.hasOwn(fields, reserved)) continue;
    fields[replacement] = fields[reserved];
    delete fields[reserved];
  }
  if (error instanceof Error) fields["throwable"] = pino.stdSerializers.err(error).stack;
  else if (error !== undefined) fields["error"] = serializable(error);
  return fields;
}

/** The message of an error value becomes the cause of the event. */
const RENAMED_FIELDS: readonly (readonly [reserved: string, replacement: string])[] = [
  ["message", "cause"],
  ["level", "factLevel"],
  ["thread", "factThread"],
  ["timestamp", "factTimestamp"],
  ["class", "factClass"],
];

/** A field as a JSON value: exact decimals for bigint, hex for bytes, the message of errors. */
function serializable(value: unknown): unknown {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString("hex")}`;
  if (value instanceof Error) return value.message;
  if (Array.isArray(value)) return value.map(serializable);
  if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    return mapValues(value as LogFields, serializable);
  }
  return value;
}

function mapValues(fields: LogFields, change: (value: unknown) => unknown): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) changed[key] = change(fields[key]);
  return changed;
}
