import { isCreation } from "../execution/observer.ts";
import { toHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { type CallFrame, CallFrames } from "./callFrames.ts";
import type { CallTracerParts } from "./callTracer.ts";
import type { TransactionLocation, TransactionTrace } from "./tracer.ts";
import { objectOf, type TraceText } from "./traceText.ts";

export interface FlatCallConfig {
  /** Shows Parity's error texts instead of go-ethereum's. */
  readonly convertParityErrors: boolean;
  /** Whether calls of precompiled contracts are shown, too. */
  readonly includePrecompiles: boolean;
}

/** go-ethereum's flatCallTracer: the frames of its callTracer as a list in the format of trace_transaction. */
export function flatCallTracer(
  config: FlatCallConfig,
  {
    gasLimit,
    text,
    budget,
    location,
  }: CallTracerParts & { readonly location: TransactionLocation | undefined },
): TransactionTrace {
  const frames = new CallFrames({ onlyTopCall: false, withLog: false }, budget);
  return {
    observer: frames,
    finish({ gasUsed }) {
      text.add("[");
      if (frames.root !== undefined) {
        const list = new FlatList(config, text, location);
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

  constructor(config: FlatCallConfig, text: TraceText, location: TransactionLocation | undefined) {
    this.config = config;
    this.text = text;
    this.context = contextJson(location);
  }

  /** Writes a frame and those below it; `transactionGas` is for the root frame. */
  write(frame: CallFrame, path: readonly number[], transactionGas?: Gas): void {
    const calls = frame.calls.filter((call) => this.isShown(call));
    const gas = transactionGas ?? { gas: frame.callee.gas, gasUsed: frame.end?.gasUsed ?? 0n };
    const json = objectOf([
      `"action":${actionJson(frame, gas)}`,
      frame.error !== undefined && `"error":"${this.errorText(frame.error)}"`,
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

  private errorText(error: string): string {
    return this.config.convertParityErrors ? parityError(error) : error;
  }
}

function contextJson(location: TransactionLocation | undefined): string {
  if (location === undefined)
    return '"blockHash":null,"blockNumber":0,"transactionHash":null,"transactionPosition":0';
  const { blockHash, blockNumber, transactionHash, index } = location;
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
  const senderAndGas = `"from":"${toHex(from)}","gas":"${toQuantity(gas)}"`;
  const valueMember = `"value":"${toQuantity(value)}"`;
  if (isCreation(kind))
    return `{"creationMethod":"${kind}",${senderAndGas},"init":"${toHex(input)}",${valueMember}}`;
  return `{"callType":"${kind}",${senderAndGas},"input":"${toHex(input)}","to":"${toHex(to)}",${valueMember}}`;
}

/** A revert has the data of REVERT as its result; other failures have none. */
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

function parityError(error: string): string {
  const exact = PARITY_ERRORS.get(error);
  if (exact !== undefined) return exact;
  return PARITY_ERROR_PREFIXES.find(([prefix]) => error.startsWith(prefix))?.[1] ?? error;
}

const PARITY_ERRORS: ReadonlyMap<string, string> = new Map([
  ["contract creation code storage out of gas", "Out of gas"],
  ["out of gas", "Out of gas"],
  ["max code size exceeded", "Out of gas"],
  ["invalid jump destination", "Bad jump destination"],
  ["execution reverted", "Reverted"],
  ["return data out of bounds", "Out of bounds"],
  ["stack limit reached 1024 (1023)", "Out of stack"],
  ["invalid input length", "Built-in failed"],
]);

const PARITY_ERROR_PREFIXES: readonly (readonly [prefix: string, text: string])[] = [
  ["out of gas:", "Out of gas"],
  ["invalid opcode:", "Bad instruction"],
  ["stack underflow", "Stack underflow"],
];
