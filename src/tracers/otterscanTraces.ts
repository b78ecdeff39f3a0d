import { isCreation } from "../execution/observer.ts";
import { toHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { type CallFrame, CallFrames } from "./callFrames.ts";
import type { TransactionTrace } from "./tracer.ts";
import type { TraceBudget, TraceText } from "./traceText.ts";

/** ots_traceTransaction, ots_getInternalOperations, ots_getTransactionError. */
export type OtterscanTrace = "calls" | "operations" | "error";

/**
 * The view of a transaction in the explorer Otterscan, as Erigon answers: calls that could not begin are left out, reverted
 * ones are not.
 */
export function otterscanTrace(
  kind: OtterscanTrace,
  { text, budget }: { readonly text: TraceText; readonly budget: TraceBudget },
): TransactionTrace {
  const frames = new CallFrames({ onlyTopCall: kind === "error", withLog: false }, budget);
  return {
    observer: frames,
    finish({ outcome, output }) {
      if (kind === "error") text.add(`"${toHex(outcome.kind === "reverted" ? output : NOTHING)}"`);
      else writeItems(text, itemsOf(kind, frames.root));
    },
  };
}

function* itemsOf(kind: "calls" | "operations", root: CallFrame | undefined): Generator<string> {
  if (root === undefined) return;
  for (const frame of inOrder(root)) {
    const item = kind === "calls" ? callItem(frame) : operationItem(frame);
    if (item !== undefined) yield item;
  }
}

/** The frames of a tree, each call before its inner ones. */
function* inOrder(frame: CallFrame): Generator<CallFrame> {
  if (frame.isDenied === true) return;
  yield frame;
  for (const call of frame.calls) yield* inOrder(call);
}

/** The item of a call. Calls of precompiled contracts are left out; a creation by a transaction counts as a call. */
function callItem({ callee, end }: CallFrame): string | undefined {
  if (callee.kind !== "selfdestruct" && callee.precompile !== undefined) return undefined;
  const type = callee.depth === 0 ? "CALL" : callee.kind.toUpperCase();
  const value = MOVES_NOTHING.has(callee.kind) ? "null" : `"${toQuantity(callee.value)}"`;
  return (
    `{"type":"${type}","depth":${callee.depth},"from":"${toHex(callee.from)}","to":"${toHex(callee.to)}",` +
    `"value":${value},"input":"${toHex(callee.input)}","output":"${toHex(end?.output ?? NOTHING)}"}`
  );
}

function operationItem({ callee }: CallFrame): string | undefined {
  const type = operationOf(callee);
  if (callee.depth === 0 || type === undefined) return undefined;
  const { from, to, value } = callee;
  return `{"type":${type},"from":"${toHex(from)}","to":"${toHex(to)}","value":"${toQuantity(value)}"}`;
}

function operationOf({ kind, value }: CallFrame["callee"]): number | undefined {
  if (kind === "selfdestruct") return SELFDESTRUCT;
  if (isCreation(kind)) return kind === "create" ? CREATE : CREATE2;
  return kind === "call" && value > 0n ? TRANSFER : undefined;
}

function writeItems(text: TraceText, items: Iterable<string>): void {
  let separator = "";
  text.add("[");
  for (const item of items) {
    text.add(`${separator}${item}`);
    separator = ",";
  }
  text.add("]");
}

const TRANSFER = 0;
const SELFDESTRUCT = 1;
const CREATE = 2;
const CREATE2 = 3;
const MOVES_NOTHING: ReadonlySet<string> = new Set(["delegatecall", "staticcall"]);
const NOTHING = new Uint8Array(0);
