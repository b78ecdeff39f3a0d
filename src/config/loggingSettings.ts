import type { LoggingSettings } from "../observability/logger.ts";
import type { Environment } from "./environment.ts";
import { isFatal } from "./options/logLevel.ts";
import { findRaw, type ResolvedOptions } from "./precedence.ts";
import type { RawOption } from "./rawOption.ts";

interface LoggingChoices {
  readonly settings: LoggingSettings;
  readonly warnings: readonly string[];
}

/**
 * Log format and levels: text on a terminal, JSON otherwise, unless --logging-format or, as with Besu, the variable
 * LOGGER chooses. Logging settings of Besu that have no effect here give warnings.
 */
export function loggingChoices(
  { values, isGiven }: ResolvedOptions,
  layers: readonly (readonly RawOption[])[],
  { environment, isTerminal }: { readonly environment: Environment; readonly isTerminal: boolean },
): LoggingChoices {
  const variable = (name: string): string => environment[name] ?? "";
  const warnings: string[] = [];
  const chosen = isGiven("logging-format") ? values["logging-format"] : formatOf(variable("LOGGER"));
  if (chosen === undefined)
    warnings.push(
      `LOGGER=${variable("LOGGER")} is not supported: the log goes to standard output. LOGGER=Json and LOGGER=Console ` +
        "choose its form.",
    );
  if (variable("LOG4J_CONFIGURATION_FILE") !== "")
    warnings.push(
      "LOG4J_CONFIGURATION_FILE is not used, because this node does not log by Log4j: --logging, --logging-modules and " +
        "--logging-format say what is logged and how.",
    );
  if (isFatal(findRaw(layers, "logging")?.text ?? ""))
    warnings.push("The logging level FATAL is deprecated: ERROR is used.");
  const automatic = isTerminal ? "terminal" : "json";
  const format = chosen === "JSON" ? "json" : chosen === "TEXT" ? "text" : automatic;
  return {
    settings: {
      level: values.logging,
      moduleLevels: Object.fromEntries(values["logging-modules"].map(({ module, level }) => [module, level])),
      format,
      // A terminal that only prints cannot draw a line again.
      hasBar: format === "terminal" && !["", "dumb"].includes(variable("TERM")),
      isColored: values["color-enabled"] ?? (isTerminal && variable("NO_COLOR") === ""),
    },
    warnings,
  };
}

/** Undefined for unsupported loggers, such as Splunk. */
function formatOf(logger: string): "AUTO" | "TEXT" | "JSON" | undefined {
  switch (logger.toLowerCase()) {
    case "":
      return "AUTO";
    case "json":
      return "JSON";
    case "console":
    case "text":
      return "TEXT";
    default:
      return undefined;
  }
}
