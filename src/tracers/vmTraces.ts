import type { HaltReason } from "../execution/haltReason.ts";
import {
  type Callee,
  type CalleeEnd,
  type ExecutionObserver,
  isCreation,
  type Step,
} from "../execution/observer.ts";
import { toHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { ChunkedText } from "./chunkedText.ts";
import type { TraceBudget } from "./traceText.ts";

/**
 * The vmTrace of a transaction (json-rpc.md#vmtrace): each instruction with what it pushed and wrote, and for calls the
 * trace of the callee. Inner traces are written first, because a call is shown after it has returned.
 */
export class VmTraces implements ExecutionObserver {
  private readonly budget: TraceBudget;
  private readonly frames: VmFrame[] = [];
  private readonly calls: PendingCall[] = [];
  private effect: Effect = NO_EFFECT;
  private finished: ChunkedText | undefined;
  private steps = 0;

  constructor(budget: TraceBudget) {
    this.budget = budget;
  }

  /** JSON of the finished trace; read it only once. It is already charged to the budget. */
  get json(): ChunkedText {
    const isLoneStop = this.steps === 1 && this.isLoneStop;
    return this.finished === undefined || isLoneStop ? textOf(EMPTY_TRACE) : this.finished;
  }

  entered(callee: Callee): void {
    const code = isCreation(callee.kind) ? toHex(callee.input) : "0x";
    this.frames.push({ code, ops: new ChunkedText(), hasRun: false });
  }

  begun(step: Step): void {
    this.steps++;
    const frame = this.frames.at(-1);
    if (frame !== undefined && step.at === 0 && frame.ops.isEmpty) frame.code = toHex(step.state.code);
    if (frame !== undefined) frame.hasRun = true;
    this.isLoneStop = step.instruction === STOP && step.depth === 0;
    this.effect = effectOf(step);
  }

  performed(step: Step): void {
    const { instruction, halt, isVirtual } = step;
    if (CALLS.has(instruction) && halt === undefined) {
      this.calls.push({ effect: this.effect, callee: undefined });
      return;
    }
    const isShown = halt === undefined ? !isVirtual : SHOWN_HALTS.has(halt);
    if (!isShown) return;
    // A call from the transaction's own code that halts costs all remaining gas, and shows its caller's code.
    const isHaltedCall = CALLS.has(instruction) && step.depth === 0;
    const sub = isHaltedCall ? `{"code":"${toHex(step.state.code)}","ops":[]}` : "null";
    this.add(step, isHaltedCall ? step.gas : step.cost, { effect: this.effect, sub });
  }

  resumed(step: Step): void {
    const call = this.calls.pop();
    if (call === undefined) return;
    const { effect, callee } = call;
    const wasEntered = callee !== undefined && !step.isDenied;
    if (wasEntered && callee.precompileGas !== undefined) {
      this.add(step, step.cost + callee.precompileGas, { effect, sub: callee.trace });
    } else if (wasEntered && callee.hasNoCode) {
      const isCounted = COUNTED_WITHOUT_CODE.has(step.instruction);
      this.add(step, step.cost + (isCounted ? step.calleeGas : 0n), { effect, sub: callee.trace });
    } else if (wasEntered && callee.hasRun) {
      this.add(step, step.cost + step.calleeGas, { effect, sub: callee.trace });
    } else if (step.depth > 0) {
      this.add(step, step.cost, { effect, sub: "null" });
    } else {
      // A callee that ran no instruction shows its code, or that of the caller, and the gas that the call took.
      const nothing = `{"code":"${toHex(step.state.code)}","ops":[]}`;
      this.add(step, step.gas - step.state.gasLeft, { effect, sub: wasEntered ? callee.trace : nothing });
    }
  }

  left({ callee, gasUsed, halt }: CalleeEnd): void {
    const frame = this.frames.pop();
    if (frame === undefined) return;
    const json = textOf(`{"code":"${frame.code}","ops":[`);
    this.budget.spend(frame.code.length);
    json.take(frame.ops);
    json.add("]}");
    const call = this.calls.at(-1);
    if (call === undefined) this.finished = json;
    else {
      const { code, hasRun } = frame;
      // A failed precompiled contract consumes all its gas, but Besu does not count it.
      const precompileGas = callee.precompile === undefined ? undefined : halt === undefined ? gasUsed : 0n;
      call.callee = { trace: json, hasNoCode: code === "0x", hasRun, precompileGas };
    }
  }

  private isLoneStop = false;

  private add(
    step: Step,
    cost: bigint,
    { effect, sub }: { readonly effect: Effect; readonly sub: string | ChunkedText },
  ): void {
    const frame = this.frames.at(-1);
    if (frame === undefined) return;
    const { ops } = frame;
    const op = `${ops.isEmpty ? "" : ","}{"cost":${cost},"ex":${resultJson(step, effect)},"pc":${step.at},"sub":`;
    this.budget.spend(op.length + (typeof sub === "string" ? sub.length : 0));
    ops.add(op);
    if (typeof sub === "string") ops.add(sub);
    else ops.take(sub);
    ops.add("}");
  }
}

interface VmFrame {
  code: string;
  readonly ops: ChunkedText;
  /** Whether an instruction ran, including the implicit STOP at the end of the code. */
  hasRun: boolean;
}

interface PendingCall {
  readonly effect: Effect;
  /** The callee after its return; undefined when none was entered. */
  callee: EndedCallee | undefined;
}

interface EndedCallee {
  readonly trace: ChunkedText;
  readonly hasNoCode: boolean;
  readonly hasRun: boolean;
  readonly precompileGas: bigint | undefined;
}

/** What an instruction is about to write, read from its operands. */
interface Effect {
  readonly memory?: { readonly offset: bigint; readonly size: bigint };
  readonly store?: { readonly key: bigint; readonly value: bigint };
}

const NO_EFFECT: Effect = {};
const EMPTY_TRACE = '{"code":"0x","ops":[]}';

function textOf(text: string): ChunkedText {
  const chunked = new ChunkedText();
  chunked.add(text);
  return chunked;
}

/** Halts whose instruction is still shown. */
const SHOWN_HALTS: ReadonlySet<HaltReason> = new Set<HaltReason>([
  "INSUFFICIENT_GAS",
  "INVALID_JUMP_DESTINATION",
  "ILLEGAL_STATE_CHANGE",
]);

/** Null for an instruction of a callee that ran out of gas. */
function resultJson(step: Step, effect: Effect): string {
  const { state, gas, cost, depth, halt, instruction } = step;
  if (halt === "INSUFFICIENT_GAS" && depth > 0) return "null";
  if (halt !== undefined) {
    const left = gas - cost;
    return `{"mem":null,"push":[],"store":null,"used":${left > 0n ? left : 0n}}`;
  }
  return (
    `{"mem":${memoryJson(step, effect)},"push":[${pushed(step).map(quoted).join(",")}],` +
    `"store":${storeJson(effect)},"used":${instruction === STOP ? gas : state.gasLeft}}`
  );
}

function memoryJson({ state }: Step, { memory }: Effect): string {
  if (memory === undefined || memory.size === 0n) return "null";
  const { offset, size } = memory;
  const bytes = new Uint8Array(Number(size));
  bytes.set(state.memory.subarray(Number(offset), Number(offset + size)));
  return `{"data":"${toHex(bytes)}","off":${offset}}`;
}

function storeJson({ store }: Effect): string {
  return store === undefined ? "null" : `{"key":${quoted(store.key)},"val":${quoted(store.value)}}`;
}

function quoted(word: bigint): string {
  return `"${toQuantity(word)}"`;
}

/** The topmost stack items that an instruction pushed or moved, deepest first. */
function pushed({ state, instruction }: Step): readonly bigint[] {
  return state.stack.top(pushCount(instruction));
}

function pushCount(instruction: number): number {
  if (instruction >= 0x80 && instruction <= 0x8f) return instruction - 0x80 + 2;
  if (instruction >= 0x90 && instruction <= 0x9f) return instruction - 0x90 + 2;
  return PUSHING.has(instruction) ? 1 : 0;
}

const PUSHING: ReadonlySet<number> = new Set(
  (
    [
      [0x01, 0x0b],
      [0x10, 0x1d],
      [0x20, 0x20],
      [0x30, 0x36],
      [0x38, 0x38],
      [0x3a, 0x3b],
      [0x3d, 0x3d],
      [0x3f, 0x4a],
      [0x51, 0x51],
      [0x54, 0x54],
      [0x58, 0x5a],
      [0x5c, 0x5c],
      [0x5f, 0x7f],
      [0xf0, 0xf2],
      [0xf4, 0xf5],
      [0xfa, 0xfa],
    ] as const
  ).flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, offset) => first + offset)),
);

const CALLS: ReadonlySet<number> = new Set([0xf0, 0xf1, 0xf2, 0xf4, 0xf5, 0xfa]);
/** CALL and STATICCALL: only their cost includes the gas passed to an account without code. */
const COUNTED_WITHOUT_CODE: ReadonlySet<number> = new Set([0xf1, 0xfa]);
const STOP = 0x00;

function effectOf({ instruction, state }: Step): Effect {
  const { stack } = state;
  const operand = (depth: number): bigint => (depth < stack.length ? stack.at(depth) : 0n);
  const memory = (offset: number, size: bigint): Effect => ({ memory: { offset: operand(offset), size } });
  switch (instruction) {
    case 0x37: // CALLDATACOPY
    case 0x39: // CODECOPY
    case 0x3e: // RETURNDATACOPY
      return memory(0, operand(2));
    case 0x3c: // EXTCODECOPY
      return memory(1, operand(3));
    case 0x51: // MLOAD
    case 0x52: // MSTORE
      return memory(0, 32n);
    case 0x53: // MSTORE8
      return memory(0, 1n);
    case 0x55: // SSTORE
      return { store: { key: operand(0), value: operand(1) } };
    case 0xf1: // CALL
    case 0xf2: // CALLCODE
      return memory(5, operand(6));
    case 0xf4: // DELEGATECALL
    case 0xfa: // STATICCALL
      return memory(4, operand(5));
    default:
      return NO_EFFECT;
  }
}
