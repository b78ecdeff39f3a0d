import { type Address, addressOfWord } from "../primitives/address.ts";
import type { Step } from "./observer.ts";

export const SELFDESTRUCT = 0xff;

/** The balance that SELFDESTRUCT transfers. */
export interface SelfdestructTransfer {
  readonly from: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
}

/** The transfer of a SELFDESTRUCT that is about to run; undefined for other instructions, or without an operand. */
export function selfdestructTransferOf({ instruction, state }: Step): SelfdestructTransfer | undefined {
  if (instruction !== SELFDESTRUCT || state.stack.length === 0) return undefined;
  const from = state.address;
  const value = state.overlay.account(from)?.balance ?? 0n;
  return { from, to: addressOfWord(state.stack.at(0)), value };
}
