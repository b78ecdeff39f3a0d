import type { ForkName } from "../../src/chainspec/forks.ts";
import { BlockSession } from "../../src/execution/blockSession.ts";
import { executeTransaction } from "../../src/execution/executeTransaction.ts";
import { NEVER_YIELD } from "../../src/execution/yieldPolicy.ts";
import type { Address } from "../../src/primitives/address.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { joinPieces } from "../../src/primitives/jsonPieces.ts";
import type { TraceStyle } from "../../src/tracers/tracer.ts";
import { TraceBudget, TraceText } from "../../src/tracers/traceText.ts";
import { WatchedOverlay } from "../../src/tracers/watchedOverlay.ts";
import { aTransaction, type TransactionFields } from "../builders/aTransaction.ts";
import { anOverlay, type ContextAccount, contractAt, theRules } from "../execution/context.ts";

/** The contract that traced transactions call. */
export const CODE = contractAt(1);
export const OTHER = contractAt(2);
export const THIRD = contractAt(3);

export interface TraceOutput {
  readonly text: TraceText;
  readonly budget: TraceBudget;
}

export interface Traced {
  /** The code of CODE, as hex digits. */
  readonly code?: string;
  /** Further accounts, or CODE with more than code. */
  readonly accounts?: readonly (readonly [Address, ContextAccount])[];
  readonly fork?: ForkName;
  readonly limitBytes?: number;
  readonly transaction?: Partial<TransactionFields>;
}

/** The text of the trace of a transaction, by default a call of CODE with a million gas at no price. */
export async function traced(
  style: (output: TraceOutput) => TraceStyle,
  { code, accounts = [], fork = "cancun", limitBytes = 1_000_000, transaction = {} }: Traced,
): Promise<string> {
  const own = code === undefined ? [] : ([[CODE, { code: `0x${code}` }]] as const);
  const overlay = anOverlay([...own, ...accounts]);
  overlay.beginTransaction();
  const sent = aTransaction({ to: CODE, value: 0n, gasPrice: 0n, gasLimit: 1_000_000n, ...transaction });
  const budget = new TraceBudget(limitBytes);
  const text = new TraceText(budget);
  const state = new WatchedOverlay(overlay);
  const rules = theRules(fork);
  const trace = style({ text, budget })({
    gasLimit: sent.gasLimit,
    location: undefined,
    beneficiary: rules.block.beneficiary,
    authorizationList: sent.authorizationList,
    state,
  });
  const { observer } = trace;
  const session = new BlockSession({ ...rules, overlay: state, yieldPolicy: NEVER_YIELD, observer });
  const executed = await executeTransaction(session, sent);
  if (!executed.ok) throw new Error(executed.error.message);
  trace.finish(executed.value);
  return joinPieces(text.takePieces());
}

/** The gas that the calls below pass on. */
export const CALL_GAS = 0xffffn;

/** CALL, CALLCODE, DELEGATECALL or STATICCALL without data; the result is dropped. Needs PUSH0. */
export function calling(
  to: Address,
  { by = "f1", value = 0 }: { readonly by?: "f1" | "f2" | "f4" | "fa"; readonly value?: number } = {},
): string {
  const transferred = by === "f1" || by === "f2" ? `60${value.toString(16).padStart(2, "0")}` : "";
  return `5f5f5f5f${transferred}73${toHex(to).slice(2)}61${CALL_GAS.toString(16)}${by}50`;
}

/** SSTORE of a small value. */
export function storing(slot: number, value: number): string {
  return `60${value.toString(16).padStart(2, "0")}60${slot.toString(16).padStart(2, "0")}55`;
}

/** CREATE, or with a salt CREATE2, with this init code of at most 32 bytes; the result is dropped. */
export function creating(initCode: string, salt?: number): string {
  const size = initCode.length / 2;
  const put = `${(0x5f + size).toString(16)}${initCode}5f52`;
  const operands = `60${size.toString(16).padStart(2, "0")}60${(32 - size).toString(16).padStart(2, "0")}5f`;
  return salt === undefined
    ? `${put}${operands}f050`
    : `${put}60${salt.toString(16).padStart(2, "0")}${operands}f550`;
}

export const REVERTING = "5f5ffd";
/** LOG0 without data. */
export const LOGGING = "5f5fa0";

export const bytesOf = (digits: string): Uint8Array => hexToBytes(`0x${digits}`);

/** A small number as a word in JSON. */
export function wordJson(value: number): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
