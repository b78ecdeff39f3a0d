import pino, { type DestinationStream } from "pino";
import { createTextLines } from "./textLine.ts";

/**
 * What an event was about. Amounts as bigint, hashes and addresses as bytes; an error goes under `error`, the message of a
 * refusal may stand under `message`.
 */
export type Facts = Readonly<Record<string, unknown>>;

/**
 * Says what happened: facts as fields for programs, a short sentence for people. At info only what an operator acts
 * on; at debug what explains it.
 */
export interface Logger {
  error(facts: Facts, message: string): void;
  warn(facts: Facts, message: string): void;
  info(facts: Facts, message: string): void;
  debug(facts: Facts, message: string): void;
  trace(facts: Facts, message: string): void;
  /** True when the level is shown: asked before facts that are costly to gather. */
  isShown(level: ShownLevel): boolean;
  /** The logger of a module, the same one for each call. */
  child(module: LogModule): Logger;
}

/** The logger that all others come from; it speaks for the node as a whole. */
export interface RootLogger extends Logger {
  /** From now on: of the modules named, else of all, those included that had a level of their own. */
  changeLevel(level: LogLevel, modules?: readonly LogModule[]): void;
}

export type ShownLevel = "error" | "warn" | "info" | "debug" | "trace";

export const LOG_LEVELS = ["OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Who speaks: `node` is what starts, watches and stops the others. */
export const LOG_MODULES = [
  "node",
  "chain",
  "consensus",
  "metrics",
  "network",
  "permissioning",
  "rpc",
  "storage",
  "sync",
  "txpool",
] as const;

export type LogModule = (typeof LOG_MODULES)[number];

export interface LoggingSettings {
  readonly level: LogLevel;
  /** Modules that have a level of their own. */
  readonly moduleLevels: Readonly<Partial<Record<LogModule, LogLevel>>>;
  /** Lines for people, or one JSON object per line for programs. */
  readonly format: "text" | "json";
  readonly isColored: boolean;
}

/**
 * A logger on standard output, or on `destination`. Lines are written at once and in this process, so that the last
 * words before an exit are not lost and the exit is not held up. In JSON the fields that every line has are named as
 * in the incumbent's common template (options.md#log-lines): timestamp, level, thread, class (our module),
 * message and throwable.
 */
export function createLogger(settings: LoggingSettings, destination?: DestinationStream): RootLogger {
  const output = destination ?? standardOutput();
  const stream = settings.format === "json" ? output : textStream(output, settings.isColored);
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
  for (const module of LOG_MODULES) loggerOf(module);
  const fromPino = (logger: pino.Logger): Logger => ({
    error: (facts, message) => logger.error(facts, message),
    warn: (facts, message) => logger.warn(facts, message),
    info: (facts, message) => logger.info(facts, message),
    debug: (facts, message) => logger.debug(facts, message),
    trace: (facts, message) => logger.trace(facts, message),
    isShown: (level) => logger.isLevelEnabled(level),
    child: (module) => fromPino(loggerOf(module)),
  });
  return {
    ...fromPino(loggerOf("node")),
    changeLevel(level, modules = LOG_MODULES) {
      for (const module of modules) loggerOf(module).level = PINO_LEVELS[level];
    },
  };
}

/** A node outlives the reader of its log, and the room for it: lines are lost then, not blocks. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true });
  output.on("error", () => undefined);
  return output;
}

/** Says nothing: for tests, and for parts used without a node around them. */
export const silentLogger: RootLogger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  isShown: () => false,
  child: () => silentLogger,
  changeLevel: () => undefined,
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

function textStream(destination: DestinationStream, isColored: boolean): DestinationStream {
  const textOf = createTextLines({ isColored });
  return { write: (line) => destination.write(textOf(JSON.parse(line))) };
}

/**
 * The facts as fields of a line; an error becomes a throwable, with its stack and what caused it. A fact with the name
 * of a field that every line has gets another one: of two members with one name a reader keeps the last.
 */
function fieldsOf({ error, ...facts }: Facts): Record<string, unknown> {
  const fields = mapValues(facts, serializable);
  for (const [taken, free] of RENAMED_FACTS) {
    if (!Object.hasOwn(fields, taken)) continue;
    fields[free] = fields[taken];
    delete fields[taken];
  }
  if (error instanceof Error) fields["throwable"] = pino.stdSerializers.err(error).stack;
  else if (error !== undefined) fields["error"] = serializable(error);
  return fields;
}

/** The message of a refusal is the cause of what the line says. */
const RENAMED_FACTS: readonly (readonly [taken: string, free: string])[] = [
  ["message", "cause"],
  ["level", "factLevel"],
  ["thread", "factThread"],
  ["timestamp", "factTimestamp"],
  ["class", "factClass"],
];

/** Facts as JSON can carry them: exact decimals for bigint, hex for bytes, the message of errors. */
function serializable(value: unknown): unknown {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString("hex")}`;
  if (value instanceof Error) return value.message;
  if (Array.isArray(value)) return value.map(serializable);
  if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    return mapValues(value as Facts, serializable);
  }
  return value;
}

function mapValues(facts: Facts, change: (value: unknown) => unknown): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const key of Object.keys(facts)) changed[key] = change(facts[key]);
  return changed;
}
