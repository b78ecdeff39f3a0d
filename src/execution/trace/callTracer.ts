import { addressOfWord, asAddress } from "../../primitives/address.ts";
import { toHex } from "../../primitives/hex.ts";
import { bigintToFixedBytes, toQuantity } from "../../primitives/quantity.ts";
import { decodeRevertText } from "../revertText.ts";
import type { TransactionResult } from "../transactionResult.ts";
import { flawOf, type HaltedStep, NO_STEP } from "./gethErrors.ts";
import {
  type Callee,
  type CalleeEnd,
  type ExecutionObserver,
  type FrameView,
  isCreation,
  type Step,
} from "./observer.ts";
import type { TransactionTrace } from "./style.ts";
import { asciiJson, type TraceBudget, type TraceText } from "./traceText.ts";

export interface CallTracerConfig {
  /** Only the transaction itself, not the calls within. */
  readonly onlyTopCall: boolean;
  readonly withLog: boolean;
}

export interface CallTracerParts {
  readonly gasLimit: bigint;
  readonly text: TraceText;
  readonly budget: TraceBudget;
}

/**
 * go-ethereum's callTracer, which client tools expect behind the debug tracing methods: the calls of a transaction as a
 * tree, precompiled contracts, self-destructions and calls that could not begin among them.
 */
export function callTracer(
  config: CallTracerConfig,
  { gasLimit, text, budget }: CallTracerParts,
): TransactionTrace {
  const calls = new CallTree(config, budget);
  return {
    observer: calls,
    finish: (result) => calls.write(text, result, gasLimit),
  };
}

class CallTree implements ExecutionObserver {
  private readonly config: CallTracerConfig;
  private readonly budget: TraceBudget;
  private readonly open: Frame[] = [];
  private root: Frame | undefined;
  /** Of the call that an instruction is about to make. */
  private readonly planned: (Callee | Suicide | undefined)[] = [];
  private halted: HaltedStep = NO_STEP;

  constructor(config: CallTracerConfig, budget: TraceBudget) {
    this.config = config;
    this.budget = budget;
  }

  /** The whole transaction: its own gas limit, and what it paid for in the end. */
  write(text: TraceText, { gasUsed }: TransactionResult, gasLimit: bigint): void {
    if (this.root === undefined) text.add("null");
    else writeFrame(text, this.root, { gas: gasLimit, gasUsed });
  }

  entered(callee: Callee): void {
    this.halted = NO_STEP;
    const frame: Frame = { callee, end: undefined, calls: [], logs: [], error: undefined };
    this.budget.spend(FRAME_BYTES + callee.input.length);
    if (this.root === undefined) this.root = frame;
    else if (!this.config.onlyTopCall) this.open.at(-1)?.calls.push(frame);
    this.open.push(frame);
  }

  begun(step: Step): void {
    const { instruction, state } = step;
    const kind = CALL_KINDS.get(instruction);
    if (kind !== undefined) this.planned.push(plannedCall(kind, step));
    else if (instruction === SELFDESTRUCT) this.planned.push(plannedSuicide(step));
    else if (instruction >= LOG0 && instruction <= LOG0 + 4 && this.config.withLog)
      this.log(state, instruction - LOG0);
    this.stackLength = state.stack.length;
  }

  performed(step: Step): void {
    const { instruction, halt } = step;
    if (halt !== undefined) this.halted = { step, stackLength: this.stackLength };
    if (halt !== undefined && instruction >= LOG0 && instruction <= LOG0 + 4) this.open.at(-1)?.logs.pop();
    if (halt !== undefined && (CALL_KINDS.has(instruction) || instruction === SELFDESTRUCT))
      this.planned.pop();
    else if (instruction === SELFDESTRUCT) this.leaf(this.planned.pop(), 0n, undefined);
  }

  resumed(step: Step): void {
    const planned = this.planned.pop();
    if (!step.isDenied) return;
    const isTooDeep = step.depth >= DEPTH_LIMIT;
    this.leaf(
      planned,
      step.calleeGas,
      isTooDeep ? "max call depth exceeded" : "insufficient balance for transfer",
    );
  }

  left(end: CalleeEnd): void {
    const frame = this.open.pop();
    if (frame === undefined) return;
    frame.end = end;
    this.budget.spend(end.output.length);
    const { halt, hasReverted, callee } = end;
    if (hasReverted) frame.error = "execution reverted";
    else if (halt !== undefined) frame.error = flawOf(halt, callee, this.halted);
    if (frame.error !== undefined) clearLogs(frame);
  }

  private stackLength = 0;

  /** A frame that runs nothing. */
  private leaf(callee: Callee | Suicide | undefined, gas: bigint, error: string | undefined): void {
    const parent = this.open.at(-1);
    if (callee === undefined || parent === undefined || this.config.onlyTopCall) return;
    this.budget.spend(FRAME_BYTES + callee.input.length);
    const isDenied = error !== undefined;
    parent.calls.push({ callee: { ...callee, gas }, end: undefined, calls: [], logs: [], error, isDenied });
  }

  private log({ stack, memory, env }: FrameView, topicCount: number): void {
    const frame = this.open.at(-1);
    if (frame === undefined || stack.length < 2 + topicCount) return;
    if (this.config.onlyTopCall && frame !== this.root) return;
    const topics = Array.from({ length: topicCount }, (_, n) =>
      toHex(bigintToFixedBytes(stack.at(2 + n), 32)),
    );
    const data = memoryPart(memory, stack.at(0), stack.at(1));
    this.budget.spend(FRAME_BYTES + data.length);
    frame.logs.push(
      `{"address":"${toHex(env.address.bytes)}","topics":[${topics.map((topic) => `"${topic}"`).join(",")}],` +
        `"data":"${toHex(data)}","position":"${toQuantity(frame.calls.length)}"}`,
    );
  }
}

interface Frame {
  readonly callee: Callee | Suicide;
  end: CalleeEnd | undefined;
  readonly calls: Frame[];
  logs: string[];
  error: string | undefined;
  readonly isDenied?: boolean;
}

type Suicide = Omit<Callee, "kind"> & { readonly kind: "selfdestruct" };

function clearLogs(frame: Frame): void {
  frame.logs = [];
  for (const call of frame.calls) clearLogs(call);
}

/** Call by call, because a text of all of them does not fit beside them. */
function writeFrame(
  text: TraceText,
  frame: Frame,
  whole?: { readonly gas: bigint; readonly gasUsed: bigint },
): void {
  const { callee, end, calls, logs, error } = frame;
  const hasRecipient = error === undefined || callee.kind === "selfdestruct" || !isCreation(callee.kind);
  const output = end === undefined || (error !== undefined && !end.hasReverted) ? "" : toHex(end.output);
  const reason = end?.hasReverted === true ? decodeRevertText(end.output) : undefined;
  const before = [
    `"from":"${toHex(callee.from)}"`,
    `"gas":"${toQuantity(whole?.gas ?? callee.gas)}"`,
    `"gasUsed":"${toQuantity(whole?.gasUsed ?? end?.gasUsed ?? 0n)}"`,
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

/** A call as its operands say, for one that may not begin. */
function plannedCall(kind: Callee["kind"], { state, depth }: Step): Callee | undefined {
  const { stack, memory, env } = state;
  const creates = isCreation(kind);
  const transfers = kind === "call" || kind === "callcode";
  const operands = creates ? 3 : transfers ? 7 : 6;
  if (stack.length < operands) return undefined;
  const inputAt = creates ? 1 : transfers ? 3 : 2;
  return {
    kind,
    depth: depth + 1,
    from: asAddress(env.address.bytes),
    to: creates ? asAddress(new Uint8Array(20)) : addressOfWord(stack.at(1)),
    value: creates ? stack.at(0) : transfers ? stack.at(2) : 0n,
    input: memoryPart(memory, stack.at(inputAt), stack.at(inputAt + 1)),
    gas: 0n,
    precompile: undefined,
  };
}

function plannedSuicide({ state, depth }: Step): Suicide | undefined {
  if (state.stack.length === 0) return undefined;
  const from = asAddress(state.env.address.bytes);
  return {
    kind: "selfdestruct",
    depth: depth + 1,
    from,
    to: addressOfWord(state.stack.at(0)),
    value: state.evm.overlay.account(from)?.balance ?? 0n,
    input: new Uint8Array(0),
    gas: 0n,
    precompile: undefined,
  };
}

/** Bytes of memory; nothing where there is not so much of it, because then the instruction fails. */
function memoryPart({ _store }: FrameView["memory"], offset: bigint, size: bigint): Uint8Array {
  if (size === 0n || offset + size > MEMORY_LIMIT) return new Uint8Array(0);
  const bytes = new Uint8Array(Number(size));
  bytes.set(_store.subarray(Number(offset), Number(offset + size)));
  return bytes;
}

const CALL_KINDS: ReadonlyMap<number, Callee["kind"]> = new Map([
  [0xf0, "create"],
  [0xf1, "call"],
  [0xf2, "callcode"],
  [0xf4, "delegatecall"],
  [0xf5, "create2"],
  [0xfa, "staticcall"],
]);
const SELFDESTRUCT = 0xff;
const LOG0 = 0xa0;
const DEPTH_LIMIT = 1024;
/** What one takes beside its data, at most: its objects, and short data that has memory of its own. */
const FRAME_BYTES = 1000;
/** Far more than a block's gas pays for. */
const MEMORY_LIMIT = 1n << 26n;
