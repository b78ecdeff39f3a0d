import { LOG_LEVELS, LOG_MODULES, type LogLevel, type LogModule } from "../../../observability/logger.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { listOf, TEXT } from "../../schemas.ts";

export const adminChangeLogLevel = defineMethod({
  name: "admin_changeLogLevel",
  namespace: "ADMIN",
  summary: "Changes how much is logged from now on, by all modules or by those named.",
  parameters: [
    required("level", decodeLevel, { enum: LOG_LEVELS }),
    optional("loggers", decodeModules, listOf(TEXT)),
  ],
  result: { name: "result", schema: TEXT },
  run([level, modules], { backend }) {
    backend.changeLogLevel(level, modules);
    return "Success";
  },
});

/** In capitals only, as the incumbent takes them (json-rpc.md#admin). */
function decodeLevel(value: unknown): LogLevel | undefined {
  return LOG_LEVELS.find((level) => level === value);
}

/** Ours, and the incumbent's names of loggers as far as a part of theirs is one of ours; others change nothing. */
function decodeModules(value: unknown): readonly LogModule[] | undefined {
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string")) return undefined;
  const parts = new Set(value.flatMap((name: string) => name.toLowerCase().split(".")));
  return LOG_MODULES.filter((module) => parts.has(module));
}
