import { LOG_LEVELS, LOG_MODULES, type LogLevel, type LogModule } from "../../../observability/levels.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { listOf, TEXT } from "../../schemas.ts";

export const adminChangeLogLevel = defineMethod({
  name: "admin_changeLogLevel",
  namespace: "ADMIN",
  summary: "Changes the log level, of all modules or of those named.",
  parameters: [
    required("level", decodeLevel, { enum: LOG_LEVELS }),
    optional("loggers", decodeModules, listOf(TEXT)),
  ],
  result: { name: "result", schema: TEXT },
  ports: ["node"],
  mayOverlap: "many",
  async run([level, modules], context) {
    await context.backend.node.changeLogLevel(level, modules, context);
    return "Success";
  },
});

/** Accepts levels in capitals only, as in Besu (json-rpc.md#admin). */
function decodeLevel(value: unknown): LogLevel | undefined {
  return LOG_LEVELS.find((level) => level === value);
}

/** Our modules, or names of Besu's loggers in which a part is one of our modules; others are ignored. */
function decodeModules(value: unknown): readonly LogModule[] | undefined {
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string")) return undefined;
  const parts = new Set(value.flatMap((name: string) => name.toLowerCase().split(".")));
  return LOG_MODULES.filter((module) => parts.has(module));
}
