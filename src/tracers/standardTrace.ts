import type { ExecutionObserver, Step } from "../execution/observer.ts";
import type { TransactionResult } from "../execution/transactionResult.ts";
import { toHex, viewAsBuffer } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { mnemonicOf } from "./mnemonics.ts";
import { memoryDigits, shownCostOf } from "./structLogs.ts";
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
    const { stack, memoryWords } = state;
    const words = stack.items.slice(0, stack.length).map((word) => `"${toQuantity(word)}"`);
    const isShown = !this.options.disableMemory && memoryWords > 0;
    this.memoryMembers = `${isShown ? `"memory":"0x${memoryDigits(state)}",` : ""}"memSize":${memoryWords * 32}`;
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
        `"opName":"${mnemonicOf(instruction, state.evm)}"${errorOf(step)}}\n`,
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
  const revertText = viewAsBuffer(state.interpreter._result.returnValue ?? new Uint8Array(0)).toString(
    "utf8",
  );
  return `,"error":${asciiJson(revertText)}`;
}

const REVERT = 0xfd;
