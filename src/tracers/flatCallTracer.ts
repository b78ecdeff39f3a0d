import { isCreation } from "../execution/observer.ts";
import { toHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { type CallFrame, CallFrames } from "./callFrames.ts";
import type { CallTracerParts } from "./callTracer.ts";
import type { TransactionPlace, TransactionTrace } from "./style.ts";
import { objectOf, type TraceText } from "./traceText.ts";

export interface FlatCallConfig {
  /** Errors in Parity's words instead of go-ethereum's. */
  readonly convertParityErrors: boolean;
  /** Shows calls of precompiled contracts, too. */
  readonly includePrecompiles: boolean;
}

/** go-ethereum's flatCallTracer: what its callTracer shows, as a list in the shape of trace_transaction. */
export function flatCallTracer(
  config: FlatCallConfig,
  { gasLimit, text, budget, place }: CallTracerParts & { readonly place: TransactionPlace | undefined },
): TransactionTrace {
  const frames = new CallFrames({ onlyTopCall: false, withLog: false }, budget);
  return {
    observer: frames,
    finish({ gasUsed }) {
      text.add("[");
      if (frames.root !== undefined) {
        const list = new FlatList(config, text, place);
        list.write(frames.root, [], { gas: gasLimit, gasUsed });
      }
      text.add("]");
    },
  };
}

interface Gas {
  readonly gas: bigint;
  readonly gasUsed: bigint;
}

class FlatList {
  private readonly config: FlatCallConfig;
  private readonly text: TraceText;
  private readonly context: string;

  constructor(config: FlatCallConfig, text: TraceText, place: TransactionPlace | undefined) {
    this.config = config;
    this.text = text;
    this.context = contextJson(place);
  }

  /** Writes a frame and those below it; `whole` is the gas of the transaction, for its own frame. */
  write(frame: CallFrame, path: readonly number[], whole?: Gas): void {
    const calls = frame.calls.filter((call) => this.isShown(call));
    const gas = whole ?? { gas: frame.callee.gas, gasUsed: frame.end?.gasUsed ?? 0n };
    const json = objectOf([
      `"action":${actionJson(frame, gas)}`,
      frame.error !== undefined && `"error":"${this.wordsOf(frame.error)}"`,
      hasResult(frame) && `"result":${resultJson(frame, gas)}`,
      `"subtraces":${calls.length}`,
      `"traceAddress":[${path.join(",")}]`,
      `"type":"${typeOf(frame)}"`,
      this.context,
    ]);
    this.text.add(path.length === 0 ? json : `,${json}`);
    for (const [index, call] of calls.entries()) this.write(call, [...path, index]);
  }

  private isShown({ callee }: CallFrame): boolean {
    if (this.config.includePrecompiles || callee.precompile === undefined) return true;
    return callee.kind !== "call" && callee.kind !== "staticcall";
  }

  private wordsOf(error: string): string {
    return this.config.convertParityErrors ? parityWords(error) : error;
  }
}

function contextJson(place: TransactionPlace | undefined): string {
  if (place === undefined)
    return '"blockHash":null,"blockNumber":0,"transactionHash":null,"transactionPosition":0';
  const { blockHash, blockNumber, transactionHash, index } = place;
  return (
    `"blockHash":"${toHex(blockHash)}","blockNumber":${blockNumber},` +
    `"transactionHash":"${toHex(transactionHash)}","transactionPosition":${index}`
  );
}

function typeOf({ callee: { kind } }: CallFrame): "call" | "create" | "suicide" {
  if (kind === "selfdestruct") return "suicide";
  return isCreation(kind) ? "create" : "call";
}

function actionJson({ callee }: CallFrame, { gas }: Gas): string {
  const { kind, from, to, value, input } = callee;
  if (kind === "selfdestruct")
    return `{"address":"${toHex(from)}","balance":"${toQuantity(value)}","refundAddress":"${toHex(to)}"}`;
  const paid = `"from":"${toHex(from)}","gas":"${toQuantity(gas)}"`;
  const given = `"value":"${toQuantity(value)}"`;
  if (isCreation(kind)) return `{"creationMethod":"${kind}",${paid},"init":"${toHex(input)}",${given}}`;
  return `{"callType":"${kind}",${paid},"input":"${toHex(input)}","to":"${toHex(to)}",${given}}`;
}

/** What was given to REVERT is worth knowing; of other failures there is nothing. */
function hasResult({ callee, error, end }: CallFrame): boolean {
  return callee.kind !== "selfdestruct" && (error === undefined || end?.hasReverted === true);
}

function resultJson({ callee, error, end }: CallFrame, { gasUsed }: Gas): string {
  const output = toHex(end?.output ?? new Uint8Array(0));
  const used = `"gasUsed":"${toQuantity(gasUsed)}"`;
  if (callee.kind === "selfdestruct" || !isCreation(callee.kind)) return `{${used},"output":"${output}"}`;
  const address = error === undefined ? `"address":"${toHex(callee.to)}",` : "";
  return `{${address}"code":"${output}",${used}}`;
}

function parityWords(error: string): string {
  const exact = PARITY_WORDS.get(error);
  if (exact !== undefined) return exact;
  return PARITY_BEGINNINGS.find(([beginning]) => error.startsWith(beginning))?.[1] ?? error;
}

const PARITY_WORDS: ReadonlyMap<string, string> = new Map([
  ["contract creation code storage out of gas", "Out of gas"],
  ["out of gas", "Out of gas"],
  ["max code size exceeded", "Out of gas"],
  ["invalid jump destination", "Bad jump destination"],
  ["execution reverted", "Reverted"],
  ["return data out of bounds", "Out of bounds"],
  ["stack limit reached 1024 (1023)", "Out of stack"],
  ["invalid input length", "Built-in failed"],
]);

const PARITY_BEGINNINGS: readonly (readonly [beginning: string, words: string])[] = [
  ["out of gas:", "Out of gas"],
  ["invalid opcode:", "Bad instruction"],
  ["stack underflow", "Stack underflow"],
];
