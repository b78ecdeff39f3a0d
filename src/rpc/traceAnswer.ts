import type { TraceResult } from "../execution/trace/traceJob.ts";
import { assertNever } from "../primitives/assert.ts";
import { viewAsBuffer } from "../primitives/hex.ts";
import { ERRORS, RpcError } from "./errors.ts";
import { RawJson } from "./method.ts";
import { PRECOMPILE_NOT_MOVABLE } from "./simulationErrors.ts";

/** What a tracing method answers. */
export function traceAnswer(result: TraceResult): RawJson | RpcError {
  switch (result.kind) {
    case "traced":
      return new RawJson(viewAsBuffer(result.json).toString("latin1"));
    case "stateUnavailable":
      return ERRORS.worldStateUnavailable;
    case "refused":
      return ERRORS.internalError;
    case "overridesRefused":
      return new RpcError(PRECOMPILE_NOT_MOVABLE, result.detail);
    case "blockDoesNotFit":
      return ERRORS.internalError;
    case "tooLarge":
      return TRACE_TOO_LARGE;
    case "timedOut":
      return ERRORS.timeoutExpired;
    case "busy":
      return ERRORS.tooManyCalls;
    default:
      return assertNever(result);
  }
}

/** Ours: the incumbent answers whatever fits into its memory. */
const TRACE_TOO_LARGE = new RpcError(
  -32005,
  "Trace exceeds the maximum size of an answer; leave out memory, stack or storage",
);
