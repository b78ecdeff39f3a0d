import { FIELD, FIELDS_BYTES } from "../../evm/layout.ts";
import type { Address } from "../../primitives/address.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import { isEmpty } from "../emptyAccounts.ts";
import type { HaltReason } from "../haltReason.ts";
import type { Frame } from "./frame.ts";
import { beginCall, delegateOf } from "./messages.ts";
import { newFrame } from "./newFrame.ts";
import type { Run } from "./run.ts";

/**
 * CALL, CALLCODE, DELEGATECALL and STATICCALL: the core has checked the operands and paid for memory. Returns why the
 * caller halts, if it does; otherwise the callee may have begun, or even ended.
 */
export function call(run: Run, frame: Frame, instruction: number): HaltReason | undefined {
  const { machine, table } = run;
  const { core } = machine;
  const hasValue = instruction === CALL || instruction === CALLCODE;
  const asked = run.word(frame, 0);
  const to = run.addressAt(asked - 32);
  const valueWord = asked - 64;
  const sendsValue = hasValue && !machine.isZero(valueWord);
  const ranges = hasValue ? asked - 96 : asked - 64;
  if (!run.charge(frame, callGasCost(run, frame, instruction, to))) return "INSUFFICIENT_GAS";
  const at = run.behind(frame);
  run.reserve(at + FIELDS_BYTES);
  const stipend = sendsValue ? STIPEND : 0;
  if (core.giveGas(frame.at, at, asked, table.hasAllButOne64th ? 1 : 0, stipend) === 0)
    return "INSUFFICIENT_GAS";
  const memory = machine.field(frame.at, FIELD.MEMORY);
  const inputSize = machine.readNumber(ranges - 32);
  const outputSize = machine.readNumber(ranges - 96);
  const isDelegate = instruction === DELEGATECALL;
  const value = sendsValue ? machine.readWord(valueWord) : 0n;
  const callee = newFrame(run, frame, {
    at,
    kind: isDelegate ? "delegatecall" : "call",
    address: isDelegate || instruction === CALLCODE ? frame.address : to,
    codeAddress: to,
    sender: isDelegate ? frame.sender : frame.address,
    isStatic: frame.isStatic || instruction === STATICCALL,
    input: inputSize === 0 ? memory : memory + machine.readNumber(ranges),
    inputSize,
    outputAt: outputSize === 0 ? memory : memory + machine.readNumber(ranges - 64),
    outputSize,
  });
  beginResult(run, frame, ranges - 96);
  run.watch?.paid(frame, at, stipend);
  const hasInsufficientBalance = sendsValue && (run.overlay.account(frame.address)?.balance ?? 0n) < value;
  if (frame.depth >= MAX_CALL_DEPTH || hasInsufficientBalance) {
    core.returnGas(frame.at, at);
    return undefined;
  }
  const word = isDelegate ? frame.at + FIELD.VALUE : sendsValue ? valueWord : 0;
  beginCall(run, callee, { word, moved: isDelegate ? undefined : value });
  return undefined;
}

/** Replaces the operands, the deepest of which is at `word`, by a zero for failure, and clears the return data. */
export function beginResult({ machine }: Run, { at }: Frame, word: number): void {
  machine.writeNumber(word, 0);
  machine.setField(at, FIELD.TOP, word + 32);
  machine.setField(at, FIELD.RETURNED_SIZE, 0);
}

/** The price of a call besides memory and the callee's gas; warms the accounts that it reads. */
export function callGasCost(run: Run, frame: Frame, instruction: number, to: Address): number {
  const { table, overlay, rules, machine } = run;
  const hasValue = instruction === CALL || instruction === CALLCODE;
  const sendsValue = hasValue && !machine.isZero(run.word(frame, 2));
  let price = table.call + run.accountAccess(to);
  if (sendsValue) price += VALUE_GAS;
  if (instruction === CALL && (sendsValue || !table.newAccountNeedsValue)) {
    const account = overlay.account(to);
    const isNew = account === undefined || (table.newAccountNeedsValue && isEmpty(account));
    if (isNew) price += NEW_ACCOUNT_GAS;
  }
  if (rules.hasDelegation) {
    const delegate = delegateOf(run, overlay.account(to) ?? EMPTY_ACCOUNT);
    if (delegate !== undefined) price += run.accountAccess(delegate);
  }
  return price;
}

const CALL = 0xf1;
const CALLCODE = 0xf2;
const DELEGATECALL = 0xf4;
const STATICCALL = 0xfa;
const STIPEND = 2_300;
const VALUE_GAS = 9_000;
export const NEW_ACCOUNT_GAS = 25_000;
/** The depth at which a frame can no longer call. */
export const MAX_CALL_DEPTH = 1024;
