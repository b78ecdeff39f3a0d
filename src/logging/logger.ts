import pino, { type DestinationStream } from "pino";
import { prettyFactory } from "pino-pretty";

/** What an event was about. Amounts as bigint, hashes and addresses as bytes; an error goes under `error`. */
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
  /** A logger that names the module it speaks for. */
  child(module: string): Logger;
}

export type ShownLevel = "error" | "warn" | "info" | "debug" | "trace";

export const LOG_LEVELS = ["OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggingSettings {
  readonly level: LogLevel;
  /** Lines for people, or one JSON object per line for programs. */
  readonly format: "readable" | "json";
  readonly isColored: boolean;
}

/**
 * A logger on standard output, or on `destination`. Lines are written at once and in this process, so that the last
 * words before an exit are not lost and the exit is not held up.
 */
export function createLogger(settings: LoggingSettings, destination?: DestinationStream): Logger {
  const output = destination ?? standardOutput();
  const stream = settings.format === "json" ? output : readableStream(output, settings.isColored);
  return fromPino(
    pino(
      {
        level: PINO_LEVELS[settings.level],
        base: null,
        messageKey: "message",
        timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
        formatters: {
          level: (label) => ({ level: label.toUpperCase() }),
          log: (facts) => mapValues(facts, serializable),
        },
      },
      stream,
    ),
  );
}

/** A node outlives the reader of its log: a broken pipe loses lines, not blocks. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true });
  output.on("error", () => undefined);
  return output;
}

/** Says nothing: for tests, and for parts used without a node around them. */
export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  isShown: () => false,
  child: () => silentLogger,
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

function fromPino(logger: pino.Logger): Logger {
  return {
    error: (facts, message) => logger.error(facts, message),
    warn: (facts, message) => logger.warn(facts, message),
    info: (facts, message) => logger.info(facts, message),
    debug: (facts, message) => logger.debug(facts, message),
    trace: (facts, message) => logger.trace(facts, message),
    isShown: (level) => logger.isLevelEnabled(level),
    child: (module) => fromPino(logger.child({ module })),
  };
}

function readableStream(destination: DestinationStream, isColored: boolean): DestinationStream {
  const readable = prettyFactory({
    colorize: isColored,
    singleLine: true,
    messageKey: "message",
    timestampKey: "timestamp",
    levelKey: "level",
    errorLikeObjectKeys: ["error"],
    translateTime: "SYS:HH:MM:ss.l",
    ignore: "module",
    messageFormat: (log, messageKey) => `${String(log["module"] ?? "node")}: ${String(log[messageKey])}`,
  });
  return { write: (line) => destination.write(readable(line)) };
}

/** Facts as JSON can carry them: exact decimals for bigint, hex for bytes, stack and all for errors. */
function serializable(value: unknown): unknown {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString("hex")}`;
  if (value instanceof Error) return pino.stdSerializers.err(value);
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
