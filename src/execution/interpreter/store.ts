import { equalBytes } from "../../primitives/hex.ts";
import type { HaltReason } from "../haltReason.ts";
import type { Frame } from "./frame.ts";
import type { StoreGasCosts } from "./gasSchedule.ts";
import type { Run } from "./run.ts";

/**
 * SSTORE: priced by the change of the current value, or by the change against the start of the transaction (EIP-1283,
 * 2200, 2929, 3529).
 */
export function storageStore(run: Run, frame: Frame): HaltReason | undefined {
  const { machine, overlay } = run;
  const { stipend } = run.table.store;
  run.parts.observed.hasStored = true;
  if (frame.isStatic) return "ILLEGAL_STATE_CHANGE";
  if (run.stackSize(frame) < 2) return "INSUFFICIENT_STACK_ITEMS";
  if (stipend > 0 && machine.core.hasMoreThan(frame.at, stipend) === 0) return "INSUFFICIENT_GAS";
  const slot = machine.readBytes(run.word(frame, 0), 32);
  const value = machine.readTrimmed(run.word(frame, 1));
  const { gas, refund } = priceAndRefund(run, frame, slot, value);
  run.refund += refund;
  if (!run.charge(frame, gas)) return "INSUFFICIENT_GAS";
  run.drop(frame, 2);
  overlay.putStorage(frame.address, slot, value);
  run.countChanges();
  return undefined;
}

/** The price of SSTORE; warms the slot. */
export function storePrice(run: Run, frame: Frame): number {
  const { machine } = run;
  const slot = machine.readBytes(run.word(frame, 0), 32);
  return priceAndRefund(run, frame, slot, machine.readTrimmed(run.word(frame, 1))).gas;
}

function priceAndRefund(
  { overlay, accesses, rules, table: { store: prices } }: Run,
  { address }: Frame,
  slot: Uint8Array,
  value: Uint8Array,
): { readonly gas: number; readonly refund: number } {
  const current = overlay.storage(address, slot);
  const access = rules.hasColdAccess && accesses.warmSlot(address, slot) ? COLD_SLOT_GAS : 0;
  if (!prices.isNet) {
    const gas = current.length === 0 && value.length > 0 ? prices.fromZero : prices.change;
    return { gas, refund: current.length > 0 && value.length === 0 ? prices.clearRefund : 0 };
  }
  const original = overlay.originalStorage(address, slot);
  return {
    gas: access + netGas(prices, original, current, value),
    refund: netRefund(prices, original, current, value),
  };
}

const COLD_SLOT_GAS = 2_100;

function netGas(prices: StoreGasCosts, original: Uint8Array, current: Uint8Array, value: Uint8Array): number {
  if (equalBytes(current, value) || !equalBytes(original, current)) return prices.dirty;
  return original.length === 0 ? prices.fromZero : prices.change;
}

/** Negative if the write undoes a clearing. */
function netRefund(
  prices: StoreGasCosts,
  original: Uint8Array,
  current: Uint8Array,
  value: Uint8Array,
): number {
  if (equalBytes(current, value)) return 0;
  let refund = 0;
  if (original.length > 0) {
    if (current.length === 0) refund -= prices.clearRefund;
    if (value.length === 0) refund += prices.clearRefund;
  }
  if (!equalBytes(original, current) && equalBytes(original, value))
    refund += (original.length === 0 ? prices.fromZero : prices.change) - prices.dirty;
  return refund;
}
