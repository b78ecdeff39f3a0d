import type { AccountOverride, BlockOverride } from "../../execution/simulation/callRequest.ts";
import type { ParityTypes } from "../../tracers/parityTrace.ts";
import type { DebugStyle } from "../../tracers/traceJob.ts";
import type { RpcError } from "../errors/errors.ts";
import type { JsonSchema } from "../method.ts";
import { BOOLEAN, GIVEN_QUANTITY, listOf } from "../schemas.ts";
import {
  BLOCK_OVERRIDES_SCHEMA,
  blockOverridesError,
  decodeBlockOverrides,
  decodeStateOverrides,
  leniently,
  STATE_OVERRIDES_SCHEMA,
} from "./overrideParameters.ts";
import { decodeBoolean, decodeList, decodeWei, isAbsent, isObject } from "./parameters.ts";

/**
 * The options of the debug tracing methods (json-rpc.md#tracing-options), together with go-ethereum's tracers, which Besu
 * does not have. Unknown members and tracers are ignored.
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
      return { kind: "structLogs", options: { disableStorage, disableMemory, disableStack } };
  }
}

/** The options of debug_traceCall: those of the other methods, a position in the block, and overrides. */
export interface TraceCallOptions {
  readonly style: DebugStyle;
  readonly accounts: readonly AccountOverride[] | null;
  readonly block: BlockOverride | null;
  /** go-ethereum's txIndex: the call is executed in place of this transaction of the block. */
  readonly index: bigint | null;
}

export function decodeTraceCallOptions(value: unknown): TraceCallOptions | undefined {
  const style = decodeTraceOptions(value);
  if (style === undefined || !isObject(value)) return undefined;
  const accounts = leniently(decodeStateOverrides)(value["stateOverrides"]);
  const block = leniently(decodeBlockOverrides)(value["blockOverrides"]);
  const index = isAbsent(value["txIndex"]) ? null : decodeWei(value["txIndex"]);
  if (accounts === undefined || block === undefined || index === undefined) return undefined;
  return { style, accounts, block, index };
}

/** Why such options were not decoded. */
export function traceCallOptionsError(given: unknown): RpcError {
  return blockOverridesError(isObject(given) ? [given["blockOverrides"]] : [], "for this RPC method");
}

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
  tracer: { enum: ["callTracer", "flatCallTracer", "prestateTracer", "4byteTracer"] },
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

export const TRACE_OPTIONS: JsonSchema = { type: "object", properties: OPTIONS };

export const TRACE_CALL_OPTIONS: JsonSchema = {
  type: "object",
  properties: {
    ...OPTIONS,
    stateOverrides: STATE_OVERRIDES_SCHEMA,
    blockOverrides: BLOCK_OVERRIDES_SCHEMA,
    txIndex: GIVEN_QUANTITY,
  },
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
