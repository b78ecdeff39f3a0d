import { assertNever } from "../../primitives/assert.ts";
import { viewAsBuffer } from "../../primitives/hex.ts";
import type { TraceResult } from "../../tracers/traceJob.ts";
import { ERRORS, RpcError } from "../errors/errors.ts";
import { PRECOMPILE_NOT_MOVABLE } from "../errors/simulationErrors.ts";
import { JsonPieces, RawJson } from "../method.ts";

/** The answer of a tracing method. */
export function traceAnswer(result: TraceResult): RawJson | JsonPieces | RpcError {
  switch (result.kind) {
    case "traced":
      return result.json.length < LARGE_BYTES
        ? new RawJson(viewAsBuffer(result.json).toString("latin1"))
        : new JsonPieces([result.json]);
    case "stateUnavailable":
      return ERRORS.worldStateUnavailable;
    case "refused":
      return ERRORS.internalError;
    case "overridesRefused":
      return new RpcError(PRECOMPILE_NOT_MOVABLE, result.detail);
    case "blockNotExecutable":
      return ERRORS.internalError;
    case "tooLarge":
      return TRACE_TOO_LARGE;
    case "tooMuchMemory":
      return ERRORS.callTooLarge;
    case "timedOut":
      return ERRORS.timeoutExpired;
    case "busy":
      return ERRORS.tooManyCalls;
    default:
      return assertNever(result);
  }
}

/** A trace of at least this size is sent as the bytes that the worker thread produced. */
const LARGE_BYTES = 64 * 1024;

/** Not in Besu, which has no limit on the size. */
const TRACE_TOO_LARGE = new RpcError(
  -32005,
  "Trace exceeds the maximum size of an answer; leave out memory, stack or storage",
);
