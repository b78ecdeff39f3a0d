import {
  CALL_KINDS,
  type Callee,
  type CalleeEnd,
  type ExecutionObserver,
  type FrameView,
  isCreation,
  type Step,
} from "../execution/observer.ts";
import { SELFDESTRUCT, selfdestructTransferOf } from "../execution/selfdestructTransfer.ts";
import { addressOfWord, asAddress } from "../primitives/address.ts";
import { toHex } from "../primitives/hex.ts";
import { bigintToFixedBytes, toQuantity } from "../primitives/quantity.ts";
import { errorOf, type HaltedStep, NO_STEP } from "./gethErrors.ts";
import type { TraceBudget } from "./traceText.ts";

export interface CallFramesConfig {
  /** Whether only the transaction itself is traced, not its inner calls. */
  readonly onlyTopCall: boolean;
  readonly withLog: boolean;
}

/**
 * Collects the calls of a transaction as a tree, as go-ethereum's tracers see them: including precompiled contracts,
 * self-destructions and calls that could not start.
 */
export class CallFrames implements ExecutionObserver {
  private readonly config: CallFramesConfig;
  private readonly budget: TraceBudget;
  private readonly open: CallFrame[] = [];
  /** The frame of the transaction itself; undefined before it starts. */
  root: CallFrame | undefined;
  /** The calls and self-destructions that running instructions are about to make; undefined without enough operands. */
  private readonly planned: (Callee | Suicide | undefined)[] = [];
  private halted: HaltedStep = NO_STEP;
  private stackLength = 0;

  constructor(config: CallFramesConfig, budget: TraceBudget) {
    this.config = config;
    this.budget = budget;
  }

  entered(callee: Callee): void {
    this.halted = NO_STEP;
    const frame: CallFrame = { callee, end: undefined, calls: [], logs: [], error: undefined };
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
    else if (halt !== undefined) frame.error = errorOf(halt, callee, this.halted);
    if (frame.error !== undefined) clearLogs(frame);
  }

  /** Adds a frame that runs no code. */
  private leaf(callee: Callee | Suicide | undefined, gas: bigint, error: string | undefined): void {
    const parent = this.open.at(-1);
    if (callee === undefined || parent === undefined || this.config.onlyTopCall) return;
    this.budget.spend(FRAME_BYTES + callee.input.length);
    const isDenied = error !== undefined;
    parent.calls.push({ callee: { ...callee, gas }, end: undefined, calls: [], logs: [], error, isDenied });
  }

  private log({ stack, memory, address }: FrameView, topicCount: number): void {
    const frame = this.open.at(-1);
    if (frame === undefined || stack.length < 2 + topicCount) return;
    if (this.config.onlyTopCall && frame !== this.root) return;
    const topics = Array.from({ length: topicCount }, (_, n) =>
      toHex(bigintToFixedBytes(stack.at(2 + n), 32)),
    );
    const data = memoryPart(memory, stack.at(0), stack.at(1));
    this.budget.spend(FRAME_BYTES + data.length);
    frame.logs.push(
      `{"address":"${toHex(address)}","topics":[${topics.map((topic) => `"${topic}"`).join(",")}],` +
        `"data":"${toHex(data)}","position":"${toQuantity(frame.calls.length)}"}`,
    );
  }
}

export interface CallFrame {
  readonly callee: Callee | Suicide;
  /** Undefined for a frame that runs no code. */
  end: CalleeEnd | undefined;
  readonly calls: CallFrame[];
  logs: string[];
  error: string | undefined;
  readonly isDenied?: boolean;
}

type Suicide = Omit<Callee, "kind"> & { readonly kind: "selfdestruct" };

function clearLogs(frame: CallFrame): void {
  frame.logs = [];
  for (const call of frame.calls) clearLogs(call);
}

/** The call that an instruction's operands describe; it may be denied. */
function plannedCall(kind: Callee["kind"], { state, depth }: Step): Callee | undefined {
  const { stack, memory } = state;
  const creates = isCreation(kind);
  const transfers = kind === "call" || kind === "callcode";
  const operands = creates ? 3 : transfers ? 7 : 6;
  if (stack.length < operands) return undefined;
  const to = creates ? asAddress(new Uint8Array(20)) : addressOfWord(stack.at(1));
  const inputAt = creates ? 1 : transfers ? 3 : 2;
  return {
    kind,
    depth: depth + 1,
    from: state.address,
    to,
    value: creates ? stack.at(0) : transfers ? stack.at(2) : 0n,
    input: memoryPart(memory, stack.at(inputAt), stack.at(inputAt + 1)),
    gas: 0n,
    precompile: creates ? undefined : state.precompileNumber(to),
  };
}

function plannedSuicide(step: Step): Suicide | undefined {
  const transfer = selfdestructTransferOf(step);
  if (transfer === undefined) return undefined;
  const nothing = { input: new Uint8Array(0), gas: 0n, precompile: undefined };
  return { kind: "selfdestruct", depth: step.depth + 1, ...transfer, ...nothing };
}

/** Bytes of memory; empty beyond MEMORY_LIMIT, where the instruction fails. */
function memoryPart(memory: Uint8Array, offset: bigint, size: bigint): Uint8Array {
  if (size === 0n || offset + size > MEMORY_LIMIT) return new Uint8Array(0);
  const bytes = new Uint8Array(Number(size));
  bytes.set(memory.subarray(Number(offset), Number(offset + size)));
  return bytes;
}

const LOG0 = 0xa0;
const DEPTH_LIMIT = 1024;
/** Most bytes of a frame apart from its data: its objects, and short data in separate allocations. */
const FRAME_BYTES = 1000;
/** Memory size far beyond what a block's gas pays for. */
const MEMORY_LIMIT = 1n << 26n;
