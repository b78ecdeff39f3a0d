import { LOG_LEVELS, LOG_MODULES, type LogLevel, type LogModule } from "../../observability/levels.ts";
import { ok } from "../../primitives/result.ts";
import { bad, listType, type ValueType } from "../valueTypes.ts";

/** A log level in any case, where FATAL means ERROR, as in Besu. */
export const logLevelType: ValueType<LogLevel> = {
  arity: "single",
  label: "<LEVEL>",
  accepts: `one of ${LOG_LEVELS.join(", ")}`,
  offers: LOG_LEVELS,
  read: (text) => {
    const word = isFatal(text) ? "ERROR" : text.toUpperCase();
    const level = LOG_LEVELS.find((each) => each === word);
    return level === undefined ? bad(`Unknown logging value: ${text}`) : ok(level);
  },
  show: String,
};

/** Besu's deprecated name for ERROR. */
export function isFatal(text: string): boolean {
  return text.toUpperCase() === "FATAL";
}

interface ModuleLevel {
  readonly module: LogModule;
  readonly level: LogLevel;
}

const moduleLevelType: ValueType<ModuleLevel> = {
  arity: "single",
  label: "<MODULE=LEVEL>",
  accepts: `a module (${LOG_MODULES.join(", ")}), "=" and ${logLevelType.accepts}`,
  offers: LOG_MODULES.flatMap((module) => LOG_LEVELS.map((level) => `${module}=${level}`)),
  read: (text) => {
    const [name = "", word, ...others] = text.split("=");
    if (word === undefined || others.length > 0) return bad(`'${text}' is not a module, "=" and a level`);
    const module = LOG_MODULES.find((each) => each === name.trim().toLowerCase());
    if (module === undefined) return bad(`'${name}' is not a module of the log`);
    const level = logLevelType.read(word.trim());
    return level.ok ? ok({ module, level: level.value }) : level;
  },
  show: ({ module, level }) => `${module}=${level}`,
};

export const moduleLevelsType = listType(moduleLevelType, "<MODULE=LEVEL,...>");
