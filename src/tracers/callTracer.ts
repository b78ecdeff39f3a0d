import { isCreation } from "../execution/observer.ts";
import { decodeRevertText } from "../execution/revertText.ts";
import { toHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { type CallFrame, CallFrames, type CallFramesConfig } from "./callFrames.ts";
import type { TransactionTrace } from "./tracer.ts";
import { asciiJson, type TraceBudget, type TraceText } from "./traceText.ts";

export interface CallTracerParts {
  readonly gasLimit: bigint;
  readonly text: TraceText;
  readonly budget: TraceBudget;
}

/**
 * go-ethereum's callTracer, which client tools expect in the debug tracing methods: the calls of a transaction as a tree.
 * The root shows the gas limit of the transaction, and the gas that it finally paid for.
 */
export function callTracer(
  config: CallFramesConfig,
  { gasLimit, text, budget }: CallTracerParts,
): TransactionTrace {
  const frames = new CallFrames(config, budget);
  return {
    observer: frames,
    finish({ gasUsed }) {
      if (frames.root === undefined) text.add("null");
      else writeFrame(text, frames.root, { gas: gasLimit, gasUsed });
    },
  };
}

/** Writes call by call, because the whole text does not fit into memory together with the frames. */
function writeFrame(
  text: TraceText,
  frame: CallFrame,
  transactionGas?: { readonly gas: bigint; readonly gasUsed: bigint },
): void {
  const { callee, end, calls, logs, error } = frame;
  const hasRecipient = error === undefined || callee.kind === "selfdestruct" || !isCreation(callee.kind);
  const output = end === undefined || (error !== undefined && !end.hasReverted) ? "" : toHex(end.output);
  const reason = end?.hasReverted === true ? decodeRevertText(end.output) : undefined;
  const before = [
    `"from":"${toHex(callee.from)}"`,
    `"gas":"${toQuantity(transactionGas?.gas ?? callee.gas)}"`,
    `"gasUsed":"${toQuantity(transactionGas?.gasUsed ?? end?.gasUsed ?? 0n)}"`,
    hasRecipient && `"to":"${toHex(callee.to)}"`,
    `"input":"${toHex(callee.input)}"`,
    output.length > 2 && `"output":"${output}"`,
    error !== undefined && `"error":"${error}"`,
    reason !== undefined && `"revertReason":${asciiJson(reason)}`,
  ];
  text.add(`{${before.filter((member) => member !== false).join(",")}`);
  for (const [index, call] of calls.entries()) {
    text.add(index === 0 ? ',"calls":[' : ",");
    writeFrame(text, call);
  }
  if (calls.length > 0) text.add("]");
  if (logs.length > 0) text.add(`,"logs":[${logs.join(",")}]`);
  if (callee.kind !== "staticcall") text.add(`,"value":"${toQuantity(callee.value)}"`);
  text.add(`,"type":"${callee.kind.toUpperCase()}"}`);
}
