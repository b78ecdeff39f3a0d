import type { CalleeEnd, ExecutionObserver, Step } from "../execution/observer.ts";
import type { TransactionResult } from "../execution/transactionResult.ts";
import { mnemonicOf } from "./mnemonics.ts";
import { hexDigits, shortHex, type TraceText } from "./traceText.ts";
import { WrittenStorage } from "./writtenStorage.ts";

/** Members to omit (json-rpc.md#tracing-options). */
export interface StructLogOptions {
  readonly disableStorage: boolean;
  readonly disableMemory: boolean;
  readonly disableStack: boolean;
}

/**
 * The trace of debug_traceTransaction and related methods (json-rpc.md#struct-logs): each instruction with the stack
 * before it, and memory and storage after it. Each log is written when the next one comes, because a failure of the
 * creation itself is shown at the last instruction of its code.
 */
export class StructLogs implements ExecutionObserver {
  private readonly options: StructLogOptions;
  private readonly text: TraceText;
  private readonly mark: number;
  private readonly storage = new WrittenStorage();
  private stack = "null";
  private last: { readonly text: string; error: string | undefined } | undefined;
  private isFirst = true;

  constructor(options: StructLogOptions, text: TraceText) {
    this.options = options;
    this.text = text;
    this.mark = text.mark();
  }

  entered(): void {
    this.storage.entered();
  }

  begun(step: Step): void {
    if (!this.options.disableStack) this.stack = stackOf(step.state.stack.bytes());
    if (!this.options.disableStorage) this.storage.begun(step);
  }

  performed(step: Step): void {
    const { state, at, instruction, gas, depth, halt } = step;
    const { disableMemory, disableStorage } = this.options;
    if (!disableStorage) this.storage.performed(step);
    const memory = disableMemory ? "null" : wordsOf(state.memory);
    const storage = disableStorage ? "null" : this.storage.text(state.address);
    this.flush();
    this.last = {
      text:
        `{"pc":${at},"op":"${mnemonicOf(instruction, state)}","gas":${gas},"gasCost":${shownCostOf(step)},"depth":${depth + 1},` +
        `"stack":${this.stack},"memory":${memory},"storage":${storage},"reason":${reasonOf(step)}`,
      error: halt,
    };
  }

  resumed(): void {}

  left(end: CalleeEnd): void {
    this.storage.left(end);
    const { callee, halt } = end;
    if (callee.precompile !== undefined) {
      const price = halt === undefined ? end.gasUsed : end.price;
      const wasPaid = halt === undefined || halt === "PRECOMPILE_ERROR";
      if (callee.depth === 0 && wasPaid && price !== undefined) this.showPrecompile(callee.gas - price);
    } else if (halt !== undefined && this.last !== undefined) this.last.error ??= halt;
  }

  /** Writes the last log, and the members before the logs. */
  finish({ gasUsed, outcome, output }: TransactionResult): void {
    this.flush();
    const hasFailed = outcome.kind !== "succeeded";
    this.text.insert(
      this.mark,
      `{"gas":${gasUsed},"failed":${hasFailed},"returnValue":"${hasFailed ? "" : hexDigits(output)}","structLogs":[`,
    );
    this.text.add("]}");
  }

  /** Shows a paid call of the transaction itself to a precompiled contract; only `failed` of the trace shows a failure. */
  private showPrecompile(gasLeft: bigint): void {
    const nothing = '"stack":null,"memory":null,"storage":null,"reason":null';
    this.last = {
      text: `{"pc":0,"op":"","gas":${gasLeft},"gasCost":0,"depth":1,${nothing}`,
      error: undefined,
    };
  }

  private flush(): void {
    const { last } = this;
    if (last === undefined) return;
    const error = last.error === undefined ? "" : `,"error":["${last.error}"]`;
    this.text.add(`${this.isFirst ? "" : ","}${last.text}${error}}`);
    this.isFirst = false;
    this.last = undefined;
  }
}

/** JSON of the stack, the deepest item first. */
function stackOf(bytes: Uint8Array): string {
  const digits = hexDigits(bytes);
  let text = "";
  for (let end = digits.length; end > 0; end -= 64)
    text += `${text === "" ? "" : ","}"${digits.slice(end - 64, end)}"`;
  return `[${text}]`;
}

/** JSON of whole words. */
function wordsOf(bytes: Uint8Array): string {
  const digits = hexDigits(bytes);
  let text = "";
  for (let at = 0; at < digits.length; at += 64)
    text += `${at === 0 ? "" : ","}"${digits.slice(at, at + 64)}"`;
  return `[${text}]`;
}

/** The data of REVERT. */
function reasonOf({ state, instruction, halt }: Step): string {
  if (instruction !== REVERT || halt !== undefined) return "null";
  return `"${shortHex(state.output)}"`;
}

/**
 * The gas cost that a log shows. For message calls it includes the gas passed to the callee; for one that could not start
 * it is all remaining gas plus the stipend, for one that halted itself all remaining gas plus its cost.
 */
export function shownCostOf({ instruction, gas, cost, calleeGas, stipend, isDenied, halt }: Step): bigint {
  if (!MESSAGE_CALLS.has(instruction)) return cost;
  if (halt !== undefined) return cost + gas;
  return isDenied ? gas + stipend : cost + calleeGas;
}

const REVERT = 0xfd;
/** CALL, CALLCODE, DELEGATECALL and STATICCALL. */
const MESSAGE_CALLS: ReadonlySet<number> = new Set([0xf1, 0xf2, 0xf4, 0xfa]);
