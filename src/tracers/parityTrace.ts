import type { ExecutionObserver } from "../execution/observer.ts";
import type { TransactionResult } from "../execution/transactionResult.ts";
import { toHex } from "../primitives/hex.ts";
import { creationMethodOf, type FlatConfig, FlatTraces, flatTraceJson } from "./flatTraces.ts";
import { stateDiffJson } from "./stateDiff.ts";
import type { TracedTransaction, TransactionTrace } from "./tracer.ts";
import type { TraceBudget, TraceText } from "./traceText.ts";
import { VmTraces } from "./vmTraces.ts";

/** The parts of a result that trace_call and related methods select. */
export interface ParityTypes {
  readonly trace: boolean;
  readonly vmTrace: boolean;
  readonly stateDiff: boolean;
}

/**
 * The result of a call, or of a mined transaction that was executed again (json-rpc.md#replay-results).
 */
export type ParityForm = "call" | "replay";

interface ParityParts {
  readonly text: TraceText;
  readonly budget: TraceBudget;
}

/** The result of trace_call or trace_replayBlockTransactions for one transaction. */
export function parityTrace(
  { location, state }: Pick<TracedTransaction, "location" | "state">,
  types: ParityTypes,
  form: ParityForm,
  { text, budget }: ParityParts,
): TransactionTrace {
  const flat = types.trace ? new FlatTraces(budget) : undefined;
  const vm = types.vmTrace ? new VmTraces(budget) : undefined;
  return {
    observer: combined([flat, vm].filter((each) => each !== undefined)),
    finish(result) {
      const isReverted = result.outcome.kind === "reverted";
      const stateDiff = types.stateDiff ? stateDiffJson(state) : "null";
      const config: FlatConfig =
        form === "replay" && flat !== undefined ? { creationMethod: creationMethodOf(flat.traces) } : {};
      const reason = form === "replay" && isReverted ? `"revertReason":"${toHex(result.output)}",` : "";
      const hash =
        form === "replay" && location !== undefined
          ? `"transactionHash":"${toHex(location.transactionHash)}",`
          : "";
      text.add(`{"output":"${outputOf(result, form)}",${reason}"stateDiff":${stateDiff},"trace":[`);
      for (const [index, each] of (flat?.traces ?? []).entries())
        text.add(`${index === 0 ? "" : ","}${flatTraceJson(each, config)}`);
      text.add(`],${hash}"vmTrace":`);
      if (vm === undefined) text.add("null");
      else text.take(vm.json);
      text.add("}");
    },
  };
}

function outputOf({ outcome, output }: TransactionResult, form: ParityForm): string {
  if (outcome.kind === "halted" || (outcome.kind === "reverted" && form === "replay")) return "0x";
  return toHex(output);
}

/** Combines several observers of one execution. */
function combined(observers: readonly ExecutionObserver[]): ExecutionObserver {
  const [only] = observers;
  if (only !== undefined && observers.length === 1) return only;
  return {
    entered(callee) {
      for (const each of observers) each.entered(callee);
    },
    begun(step) {
      for (const each of observers) each.begun(step);
    },
    performed(step) {
      for (const each of observers) each.performed(step);
    },
    resumed(step) {
      for (const each of observers) each.resumed(step);
    },
    left(end) {
      for (const each of observers) each.left(end);
    },
  };
}
