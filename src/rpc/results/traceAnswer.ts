import { assertNever } from "../../primitives/assert.ts";
import { joinPieces, roughLengthOf } from "../../primitives/jsonPieces.ts";
import type { TraceResult } from "../../tracers/traceJob.ts";
import { ERRORS, RpcError } from "../errors/errors.ts";
import { PRECOMPILE_NOT_MOVABLE } from "../errors/simulationErrors.ts";
import { JsonPieces, RawJson } from "../method.ts";

/** The answer of a tracing method. */
export function traceAnswer(result: TraceResult): RawJson | JsonPieces | RpcError {
  switch (result.kind) {
    case "traced":
      return roughLengthOf(result.pieces) < LARGE_BYTES
        ? new RawJson(joinPieces(result.pieces))
        : new JsonPieces(result.pieces);
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

/** A trace of at least this size is sent as the pieces that the worker thread made. */
const LARGE_BYTES = 64 * 1024;

/** Not in Besu, which has no limit on the size. */
const TRACE_TOO_LARGE = new RpcError(
  -32005,
  "Trace exceeds the maximum size of an answer; leave out memory, stack or storage",
);
