import { LOG_LEVELS, type LogLevel } from "../../logging/logger.ts";
import { ok } from "../../primitives/outcome.ts";
import { bad, type ValueType } from "../valueTypes.ts";

/** As the incumbent's: in any case, and FATAL means ERROR. */
export const logLevelType: ValueType<LogLevel> = {
  arity: "single",
  label: "<LEVEL>",
  accepts: `one of ${LOG_LEVELS.join(", ")}`,
  read: (text) => {
    const word = text.toUpperCase() === "FATAL" ? "ERROR" : text.toUpperCase();
    const level = LOG_LEVELS.find((each) => each === word);
    return level === undefined ? bad(`Unknown logging value: ${text}`) : ok(level);
  },
  show: String,
};
