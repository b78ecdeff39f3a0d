import type { ExecutionObserver, Step } from "../execution/observer.ts";
import type { TransactionResult } from "../execution/transactionResult.ts";
import { toHex, viewAsBuffer } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { mnemonicOf } from "./mnemonics.ts";
import { shownCostOf } from "./structLogs.ts";
import { TRACE_ERRORS } from "./traceErrors.ts";
import { asciiJson, hexDigits, type TraceText } from "./traceText.ts";

export interface StandardTraceOptions {
  readonly disableMemory: boolean;
}

/**
 * The lines of a trace file (json-rpc.md#trace-files, EIP-3155): one JSON object for each instruction, with stack and
 * memory before it, and a last one for the transaction.
 */
export class StandardTrace implements ExecutionObserver {
  private readonly options: StandardTraceOptions;
  private readonly text: TraceText;
  private memoryMembers = "";
  private stack = "";

  constructor(options: StandardTraceOptions, text: TraceText) {
    this.options = options;
    this.text = text;
  }

  entered(): void {}

  begun({ state }: Step): void {
    const { stack, memory } = state;
    const words = stack.top(stack.length).map((word) => `"${toQuantity(word)}"`);
    const isShown = !this.options.disableMemory && memory.length > 0;
    this.memoryMembers = `${isShown ? `"memory":"${toHex(memory)}",` : ""}"memSize":${memory.length}`;
    this.stack = `[${words.join(",")}]`;
  }

  performed(step: Step): void {
    const { state, at, instruction, gas, depth } = step;
    if (step.isVirtual) return;
    const { returnBytes, gasRefund } = state;
    const returned = returnBytes.length > 0 ? `"returnData":"${toHex(returnBytes)}",` : "";
    this.text.add(
      `{"pc":${at},"op":${instruction},"gas":"${toQuantity(gas)}","gasCost":"${toQuantity(shownCostOf(step))}",` +
        `${this.memoryMembers},"stack":${this.stack},${returned}"depth":${depth + 1},"refund":${gasRefund},` +
        `"opName":"${mnemonicOf(instruction, state)}"${errorOf(step)}}\n`,
    );
  }

  resumed(): void {}

  left(): void {}

  /** Writes the line of the transaction. */
  finish({ output, outcome, gasUsed }: TransactionResult, timeNs: bigint): void {
    const shown = outcome.kind === "succeeded" ? hexDigits(output) : "";
    this.text.add(`{"output":"${shown}","gasUsed":"${toQuantity(gasUsed)}","time":${timeNs}}\n`);
  }
}

/** The reason of a halt, or the data of REVERT decoded as UTF-8. */
function errorOf({ state, instruction, halt }: Step): string {
  if (halt !== undefined) return `,"error":"${TRACE_ERRORS[halt]}"`;
  if (instruction !== REVERT) return "";
  return `,"error":${asciiJson(viewAsBuffer(state.output).toString("utf8"))}`;
}

const REVERT = 0xfd;
