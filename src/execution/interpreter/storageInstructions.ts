import { EVMError } from "@ethereumjs/evm";
import { asAddress } from "../../primitives/address.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { Rules } from "../rules.ts";
import type { FrameState } from "./frame.ts";
import type { QuickInstruction } from "./instruction.ts";
import { bytesOfWord, trimmedBytesOfWord, wordOfBytes } from "./words.ts";

/** SLOAD: costs the fork's fee; from Berlin on the price depends on whether the slot is warm (EIP-2929). */
export function storageLoad({ hasColdAccess }: Rules, basicFee: number): QuickInstruction {
  return (state) => {
    const { stack, env, evm } = state;
    const slot = bytesOfWord(stack.at(0));
    state.charge(hasColdAccess ? accessGas(state, slot, WARM_READ_GAS) : basicFee);
    stack.replace(1, wordOfBytes(evm.overlay.storage(asAddress(env.address.bytes), slot)));
  };
}

/** SSTORE from Istanbul on: priced by its change against the start of the transaction (EIP-2200, 2929, 3529). */
export function storageStore(rules: Rules): QuickInstruction {
  const prices = storePrices(rules);
  return (state) => {
    const { stack, env, evm } = state;
    evm.observed.hasStored = true;
    if (env.isStatic) throw new EVMError(EVMError.errorMessages.STATIC_STATE_CHANGE);
    stack.need(2);
    const slot = bytesOfWord(stack.at(0));
    const value = trimmedBytesOfWord(stack.at(1));
    if (!state.hasMoreThan(STIPEND)) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS);
    const address = asAddress(env.address.bytes);
    const current = evm.overlay.storage(address, slot);
    const original = evm.overlay.originalStorage(address, slot);
    const coldGas = rules.hasColdAccess ? accessGas(state, slot, 0) : 0;
    state.gasRefund += BigInt(storeRefund(prices, original, current, value));
    state.charge(coldGas + storeGas(prices, original, current, value));
    stack.drop(2);
    evm.overlay.putStorage(address, slot, value);
  };
}

/** SSTORE fails unless more gas than this is left (EIP-2200). */
const STIPEND = 2_300;
const WARM_READ_GAS = 100;
const COLD_READ_GAS = 2_100;

interface StorePrices {
  /** For a write that changes nothing, or a slot that the transaction already changed. */
  readonly dirty: number;
  readonly fromZero: number;
  readonly change: number;
  readonly clearRefund: number;
}

function storePrices({ hasColdAccess, hasBaseFee }: Rules): StorePrices {
  return {
    dirty: hasColdAccess ? WARM_READ_GAS : 800,
    fromZero: 20_000,
    change: hasColdAccess ? 5_000 - COLD_READ_GAS : 5_000,
    // EIP-3529 came with the base fee, in London.
    clearRefund: hasBaseFee ? 4_800 : 15_000,
  };
}

function storeGas(prices: StorePrices, original: Uint8Array, current: Uint8Array, value: Uint8Array): number {
  if (equalBytes(current, value) || !equalBytes(original, current)) return prices.dirty;
  return original.length === 0 ? prices.fromZero : prices.change;
}

/** Negative if the write undoes a clearing. */
function storeRefund(
  prices: StorePrices,
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

/** Warms a slot; returns the cold price, or `warmGas` if it already was warm. */
function accessGas({ env, evm }: FrameState, slot: Uint8Array, warmGas: number): number {
  const { bytes } = env.address;
  if (evm.accesses.isWarmSlot(bytes, slot)) return warmGas;
  evm.accesses.warmSlot(bytes, slot);
  return COLD_READ_GAS;
}
