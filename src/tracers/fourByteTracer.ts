import { isCreation } from "../execution/observer.ts";
import { type CallFrame, CallFrames } from "./callFrames.ts";
import type { TransactionTrace } from "./tracer.ts";
import { hexDigits, type TraceBudget, type TraceText } from "./traceText.ts";

/**
 * go-ethereum's 4byteTracer: counts the calls of functions by their selector and the length of their arguments.
 * Precompiled contracts have no functions.
 */
export function fourByteTracer({
  text,
  budget,
}: {
  readonly text: TraceText;
  readonly budget: TraceBudget;
}): TransactionTrace {
  const frames = new CallFrames({ onlyTopCall: false, withLog: false }, budget);
  return {
    observer: frames,
    finish() {
      const counts = new Map<string, number>();
      if (frames.root !== undefined) count(frames.root, counts);
      const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
      text.add(`{${sorted.map(([name, times]) => `"${name}":${times}`).join(",")}}`);
    },
  };
}

function count({ callee, calls }: CallFrame, counts: Map<string, number>): void {
  const { kind, input, precompile } = callee;
  const isCall = kind !== "selfdestruct" && !isCreation(kind);
  if (isCall && precompile === undefined && input.length >= SELECTOR_BYTES) {
    const name = `0x${hexDigits(input.subarray(0, SELECTOR_BYTES))}-${input.length - SELECTOR_BYTES}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  for (const call of calls) count(call, counts);
}

const SELECTOR_BYTES = 4;
