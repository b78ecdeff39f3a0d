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
import type { TransactionPlace } from "./style.ts";
import { TRACE_ERRORS } from "./traceErrors.ts";
import type { TraceBudget } from "./traceText.ts";

/** A call, a creation or a self-destruction, as the TRACE methods list them (json-rpc.md#flat-traces). */
export interface FlatTrace {
  readonly traceAddress: readonly number[];
  /** How many came directly out of it. */
  subtraces: number;
  readonly action: Callee | Suicide;
  /** Undefined for a self-destruction. */
  end: CalleeEnd | undefined;
}

export interface Suicide {
  readonly kind: "suicide";
  readonly address: Address;
  readonly balance: bigint;
  readonly refundAddress: Address;
}

/**
 * Gathers the flat traces of a transaction in the order in which they begin. Left out are precompiled contracts that
 * code calls, and calls that could not begin.
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

/** What one takes beside its data, at most: its objects, and short data that has memory of its own. */
const TRACE_BYTES = 1000;

export interface FlatConfig {
  /** Left out for a transaction that is not mined. */
  readonly place?: TransactionPlace;
  /** Creations say by which instruction; left out for calls. */
  readonly creationMethod?: "create" | "create2";
}

/** The incumbent says the same of all creations of a transaction: create2 as soon as one was. */
export function creationMethodOf(traces: readonly FlatTrace[]): "create" | "create2" {
  return traces.some(({ action }) => action.kind === "create2") ? "create2" : "create";
}

/** JSON of one trace. */
export function flatTraceJson(
  { traceAddress, subtraces, action, end }: FlatTrace,
  config: FlatConfig,
): string {
  const { place } = config;
  const block =
    place === undefined ? "" : `"blockHash":"${toHex(place.blockHash)}","blockNumber":${place.blockNumber},`;
  const transaction =
    place === undefined
      ? ""
      : `"transactionHash":"${toHex(place.transactionHash)}","transactionPosition":${place.index},`;
  const isRoot = traceAddress.length === 0;
  return (
    `{"action":${actionJson(action, config)},${block}${outcomeJson(action, end, isRoot)}` +
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
  const price = `"from":"${toHex(from)}","gas":"${toQuantity(gas)}"`;
  const given = `"value":"${toQuantity(value)}"`;
  if (!isCreation(kind))
    return `{"callType":"${kind}",${price},"input":"${toHex(input)}","to":"${toHex(to)}",${given}}`;
  const method = creationMethod === undefined ? "" : `"creationMethod":"${creationMethod}",`;
  return `{${method}${price},"init":"${toHex(input)}",${given}}`;
}

function outcomeJson(action: FlatTrace["action"], end: CalleeEnd | undefined, isRoot: boolean): string {
  if (action.kind === "suicide" || end === undefined) return '"result":null,';
  const { hasReverted, halt, output, gasUsed } = end;
  if (halt !== undefined) return `"error":"${TRACE_ERRORS[halt]}",`;
  if (hasReverted) return `"error":"Reverted",${isRoot ? `"revertReason":"${toHex(output)}",` : ""}`;
  if (isCreation(action.kind))
    return `"result":{"address":"${toHex(action.to)}","code":"${toHex(output)}","gasUsed":"${toQuantity(gasUsed)}"},`;
  // What a precompiled contract returned to the outside is missing, as with the incumbent.
  return `"result":{"gasUsed":"${toQuantity(gasUsed)}","output":"${action.precompile !== undefined ? "0x" : toHex(output)}"},`;
}
