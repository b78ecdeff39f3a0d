import type { AccountOverride, BlockOverride } from "../../execution/simulation/callRequest.ts";
import type { ParityTypes } from "../../tracers/parityTrace.ts";
import type { DebugStyle } from "../../tracers/traceJob.ts";
import { RpcError } from "../errors/errors.ts";
import { type JsonSchema, optional } from "../method.ts";
import { BOOLEAN, GIVEN_QUANTITY, listOf } from "../schemas.ts";
import {
  BLOCK_OVERRIDES_SCHEMA,
  blockOverridesError,
  decodeBlockOverrides,
  decodeStateOverrides,
  leniently,
  NOT_SUPPORTED,
  STATE_OVERRIDES_SCHEMA,
} from "./overrideParameters.ts";
import { decodeBoolean, decodeList, decodeWei, isAbsent, isObject } from "./parameters.ts";

/**
 * The options of the debug tracing methods (json-rpc.md#tracing-options), together with go-ethereum's tracers, which Besu
 * does not have. Unknown members are ignored, and so is a `tracer` that is no text. A tracer that Ibex does not have is
 * refused: struct logs in its place would be read as its answer.
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
    case "flatCallTracer": {
      const [convertParityErrors, includePrecompiles] = [
        isSet("convertParityErrors"),
        isSet("includePrecompiles"),
      ];
      return { kind: tracer, config: { convertParityErrors, includePrecompiles } };
    }
    case "4byteTracer":
      return { kind: tracer };
    case "prestateTracer": {
      const [diffMode, disableCode] = [isSet("diffMode"), isSet("disableCode")];
      const [disableStorage, includeEmpty] = [isSet("disableStorage"), isSet("includeEmpty")];
      // go-ethereum refuses both together.
      if (diffMode && includeEmpty) return undefined;
      return { kind: tracer, config: { diffMode, disableCode, disableStorage, includeEmpty } };
    }
    default:
      if (isUnsupported(tracer)) return undefined;
      return { kind: "structLogs", options: { disableStorage, disableMemory, disableStack } };
  }
}

/** The options of debug_traceCall: those of the other methods, a position in the block, and overrides. */
interface TraceCallOptions {
  readonly style: DebugStyle;
  readonly accounts: readonly AccountOverride[] | null;
  readonly block: BlockOverride | null;
  /** go-ethereum's txIndex: the call is executed in place of this transaction of the block. */
  readonly index: bigint | null;
}

function decodeTraceCallOptions(value: unknown): TraceCallOptions | undefined {
  const style = decodeTraceOptions(value);
  if (style === undefined || !isObject(value)) return undefined;
  const accounts = leniently(decodeStateOverrides)(value["stateOverrides"]);
  const block = leniently(decodeBlockOverrides)(value["blockOverrides"]);
  const index = isAbsent(value["txIndex"]) ? null : decodeWei(value["txIndex"]);
  if (accounts === undefined || block === undefined || index === undefined) return undefined;
  return { style, accounts, block, index };
}

/** Asked of a tracer that is none of go-ethereum's four here; as there, an empty name means struct logs. */
function isUnsupported(tracer: unknown): tracer is string {
  return typeof tracer === "string" && tracer !== "";
}

/** The error for options that name a tracer which Ibex does not have; undefined when something else is wrong. */
function traceOptionsError(given: unknown): RpcError | undefined {
  if (!isObject(given)) return undefined;
  const { tracer } = given;
  if (!isUnsupported(tracer) || TRACERS.includes(tracer)) return undefined;
  // Source code is what go-ethereum takes every other text for.
  const name = /^\w+$/.test(tracer)
    ? `the tracer ${tracer.slice(0, SHOWN_NAME_LENGTH)}`
    : "a tracer in JavaScript";
  return new RpcError(NOT_SUPPORTED, `${name} is not supported; there are ${TRACERS.join(", ")}`);
}

/** Characters of a tracer's name that an error repeats. */
const SHOWN_NAME_LENGTH = 40;

function traceCallOptionsError(given: unknown): RpcError | undefined {
  const overrides = isObject(given) ? [given["blockOverrides"]] : [];
  return traceOptionsError(given) ?? blockOverridesError(overrides, "for this RPC method");
}

const TRACERS: readonly string[] = ["callTracer", "flatCallTracer", "prestateTracer", "4byteTracer"];

const FLAGS = ["disableStorage", "disableMemory", "disableStack"] as const;

/** The default: nothing is left out. */
export const EVERYTHING: DebugStyle = {
  kind: "structLogs",
  options: { disableStorage: false, disableMemory: false, disableStack: false },
};

const OPTIONS = {
  disableStorage: BOOLEAN,
  disableMemory: BOOLEAN,
  disableStack: BOOLEAN,
  tracer: { enum: TRACERS },
  tracerConfig: {
    type: "object",
    properties: {
      onlyTopCall: BOOLEAN,
      withLog: BOOLEAN,
      convertParityErrors: BOOLEAN,
      includePrecompiles: BOOLEAN,
      diffMode: BOOLEAN,
      disableCode: BOOLEAN,
      disableStorage: BOOLEAN,
      includeEmpty: BOOLEAN,
    },
  },
};

/** The parameter of debug_traceTransaction and of traces of blocks. */
export const TRACE_OPTIONS = {
  ...optional("options", decodeTraceOptions, { type: "object", properties: OPTIONS }),
  explain: traceOptionsError,
};

/** The parameter of debug_traceCall. */
export const TRACE_CALL_OPTIONS = {
  ...optional("options", decodeTraceCallOptions, {
    type: "object",
    properties: {
      ...OPTIONS,
      stateOverrides: STATE_OVERRIDES_SCHEMA,
      blockOverrides: BLOCK_OVERRIDES_SCHEMA,
      txIndex: GIVEN_QUANTITY,
    },
  }),
  explain: traceCallOptionsError,
};

/** A list of trace, vmTrace and stateDiff in any case; may be empty. */
export function decodeTraceTypes(value: unknown): ParityTypes | undefined {
  const types = decodeList((item) => TYPES.get(typeof item === "string" ? item.toLowerCase() : ""))(value);
  if (types === undefined) return undefined;
  const has = (type: keyof ParityTypes): boolean => types.includes(type);
  return { trace: has("trace"), vmTrace: has("vmTrace"), stateDiff: has("stateDiff") };
}

const TYPES: ReadonlyMap<string, keyof ParityTypes> = new Map([
  ["trace", "trace"],
  ["vmtrace", "vmTrace"],
  ["statediff", "stateDiff"],
]);

export const TRACE_TYPES: JsonSchema = listOf({ enum: [...TYPES.values()] });
