import type { ParityTypes } from "../execution/trace/parityTrace.ts";
import type { DebugStyle } from "../execution/trace/traceJob.ts";
import type { JsonSchema } from "./method.ts";
import { decodeBoolean, decodeList, isAbsent, isObject } from "./parameters.ts";
import { BOOLEAN, listOf } from "./schemas.ts";

/**
 * The options of the debug tracing methods (json-rpc.md §7), and go-ethereum's two tracers beside them, which the
 * incumbent does not know. Members that are unknown do not count, nor do tracers.
 */
export function decodeTraceOptions(value: unknown): DebugStyle | undefined {
  if (!isObject(value)) return undefined;
  const flags = FLAGS.map((name) => (isAbsent(value[name]) ? false : decodeBoolean(value[name])));
  const [disableStorage, disableMemory, disableStack] = flags;
  if (disableStorage === undefined || disableMemory === undefined || disableStack === undefined)
    return undefined;
  const { tracer, tracerConfig } = value;
  const config = isObject(tracerConfig) ? tracerConfig : {};
  const isSet = (name: string): boolean => config[name] === true;
  switch (tracer) {
    case "callTracer":
      return { kind: tracer, config: { onlyTopCall: isSet("onlyTopCall"), withLog: isSet("withLog") } };
    case "prestateTracer":
      return { kind: tracer, config: { diffMode: isSet("diffMode") } };
    default:
      return { kind: "structLogs", options: { disableStorage, disableMemory, disableStack } };
  }
}

const FLAGS = ["disableStorage", "disableMemory", "disableStack"] as const;

/** What is shown when nobody says what to leave out. */
export const EVERYTHING: DebugStyle = {
  kind: "structLogs",
  options: { disableStorage: false, disableMemory: false, disableStack: false },
};

export const TRACE_OPTIONS: JsonSchema = {
  type: "object",
  properties: {
    disableStorage: BOOLEAN,
    disableMemory: BOOLEAN,
    disableStack: BOOLEAN,
    tracer: { enum: ["callTracer", "prestateTracer"] },
    tracerConfig: {
      type: "object",
      properties: { onlyTopCall: BOOLEAN, withLog: BOOLEAN, diffMode: BOOLEAN },
    },
  },
};

/** A set of the words trace, vmTrace and stateDiff in any case; may be empty. */
export function decodeTraceTypes(value: unknown): ParityTypes | undefined {
  const words = decodeList((item) => TYPES.get(typeof item === "string" ? item.toLowerCase() : ""))(value);
  if (words === undefined) return undefined;
  const has = (type: keyof ParityTypes): boolean => words.includes(type);
  return { trace: has("trace"), vmTrace: has("vmTrace"), stateDiff: has("stateDiff") };
}

const TYPES: ReadonlyMap<string, keyof ParityTypes> = new Map([
  ["trace", "trace"],
  ["vmtrace", "vmTrace"],
  ["statediff", "stateDiff"],
]);

export const TRACE_TYPES: JsonSchema = listOf({ enum: [...TYPES.values()] });
