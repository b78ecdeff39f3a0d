import {
  type Callee,
  type CalleeEnd,
  type ExecutionObserver,
  isCreation,
  type Step,
} from "../execution/observer.ts";
import { selfdestructTransferOf } from "../execution/selfdestructTransfer.ts";
import type { Address } from "../primitives/address.ts";
import { toHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { TRACE_ERRORS } from "./traceErrors.ts";
import type { TransactionLocation } from "./tracer.ts";
import type { TraceBudget } from "./traceText.ts";

/** A call, a creation or a self-destruction, as the TRACE methods list them (json-rpc.md#flat-traces). */
export interface FlatTrace {
  readonly traceAddress: readonly number[];
  /** Number of its direct children. */
  subtraces: number;
  readonly action: Callee | Suicide;
  /** Undefined for a self-destruction. */
  end: CalleeEnd | undefined;
}

interface Suicide {
  readonly kind: "suicide";
  readonly address: Address;
  readonly balance: bigint;
  readonly refundAddress: Address;
}

/**
 * Collects the flat traces of a transaction in the order in which they start. Omits calls from code to precompiled
 * contracts, and calls that could not start.
 */
export class FlatTraces implements ExecutionObserver {
  readonly traces: FlatTrace[] = [];
  private readonly budget: TraceBudget;
  private readonly open: (FlatTrace | undefined)[] = [];
  private suicide: Suicide | undefined;

  constructor(budget: TraceBudget) {
    this.budget = budget;
  }

  entered(callee: Callee): void {
    const isHidden = callee.precompile !== undefined && callee.depth > 0;
    this.open.push(isHidden ? undefined : this.add(callee));
    this.budget.spend(callee.input.length);
  }

  begun(step: Step): void {
    const transfer = selfdestructTransferOf(step);
    this.suicide = transfer && {
      kind: "suicide",
      address: transfer.from,
      balance: transfer.value,
      refundAddress: transfer.to,
    };
  }

  performed({ halt }: Step): void {
    if (this.suicide !== undefined && halt === undefined) this.add(this.suicide);
    this.suicide = undefined;
  }

  resumed(): void {}

  left(end: CalleeEnd): void {
    const trace = this.open.pop();
    if (trace !== undefined) trace.end = end;
    this.budget.spend(end.output.length);
  }

  private add(action: FlatTrace["action"]): FlatTrace {
    const parent = this.open.at(-1);
    const traceAddress = parent === undefined ? [] : [...parent.traceAddress, parent.subtraces++];
    const trace = { traceAddress, subtraces: 0, action, end: undefined };
    this.budget.spend(TRACE_BYTES + 8 * traceAddress.length);
    this.traces.push(trace);
    return trace;
  }
}

/** Most bytes of a trace apart from its data: its objects, and short data in separate allocations. */
const TRACE_BYTES = 1000;

export interface FlatConfig {
  /** Absent for a transaction that is not mined. */
  readonly location?: TransactionLocation;
  /** The instruction that creations show; absent for calls. */
  readonly creationMethod?: "create" | "create2";
}

/** Besu shows the same method for all creations of a transaction: create2 when one of them was. */
export function creationMethodOf(traces: readonly FlatTrace[]): "create" | "create2" {
  return traces.some(({ action }) => action.kind === "create2") ? "create2" : "create";
}

/** JSON of one trace. */
export function flatTraceJson(
  { traceAddress, subtraces, action, end }: FlatTrace,
  config: FlatConfig,
): string {
  const { location } = config;
  const block =
    location === undefined
      ? ""
      : `"blockHash":"${toHex(location.blockHash)}","blockNumber":${location.blockNumber},`;
  const transaction =
    location === undefined
      ? ""
      : `"transactionHash":"${toHex(location.transactionHash)}","transactionPosition":${location.index},`;
  const isRoot = traceAddress.length === 0;
  return (
    `{"action":${actionJson(action, config)},${block}${resultJson(action, end, isRoot)}` +
    `"subtraces":${subtraces},"traceAddress":[${traceAddress.join(",")}],${transaction}"type":"${typeOf(action)}"}`
  );
}

function typeOf({ kind }: FlatTrace["action"]): "call" | "create" | "suicide" {
  if (kind === "suicide") return kind;
  return isCreation(kind) ? "create" : "call";
}

function actionJson(action: FlatTrace["action"], { creationMethod }: FlatConfig): string {
  if (action.kind === "suicide") {
    const { address, balance, refundAddress } = action;
    const refund = `"refundAddress":"${toHex(refundAddress)}"`;
    return `{"address":"${toHex(address)}","balance":"${toQuantity(balance)}",${refund}}`;
  }
  const { kind, from, to, gas, input, value } = action;
  const senderAndGas = `"from":"${toHex(from)}","gas":"${toQuantity(gas)}"`;
  const valueMember = `"value":"${toQuantity(value)}"`;
  if (!isCreation(kind))
    return `{"callType":"${kind}",${senderAndGas},"input":"${toHex(input)}","to":"${toHex(to)}",${valueMember}}`;
  const method = creationMethod === undefined ? "" : `"creationMethod":"${creationMethod}",`;
  return `{${method}${senderAndGas},"init":"${toHex(input)}",${valueMember}}`;
}

function resultJson(action: FlatTrace["action"], end: CalleeEnd | undefined, isRoot: boolean): string {
  if (action.kind === "suicide" || end === undefined) return '"result":null,';
  const { hasReverted, halt, output, gasUsed } = end;
  if (halt !== undefined) return `"error":"${TRACE_ERRORS[halt]}",`;
  if (hasReverted) return `"error":"Reverted",${isRoot ? `"revertReason":"${toHex(output)}",` : ""}`;
  if (isCreation(action.kind))
    return `"result":{"address":"${toHex(action.to)}","code":"${toHex(output)}","gasUsed":"${toQuantity(gasUsed)}"},`;
  // Like Besu, omits the output of a precompiled contract that the transaction calls directly.
  return `"result":{"gasUsed":"${toQuantity(gasUsed)}","output":"${action.precompile !== undefined ? "0x" : toHex(output)}"},`;
}
