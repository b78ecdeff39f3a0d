import type { Address } from "../primitives/address.ts";
import type { Overlay } from "../state/overlay.ts";

/** Code of an account; empty if it has none or does not exist. */
export function codeOf(state: Pick<Overlay, "account" | "code">, address: Address): Uint8Array {
  const account = state.account(address);
  return account === undefined ? NO_CODE : state.code(account.codeHash);
}

const NO_CODE = new Uint8Array(0);
