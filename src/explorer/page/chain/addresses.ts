import { checksumAddress } from "viem";

/**
 * An address as it is shown, copied and linked: its capital letters are a checksum, with which wallets detect a mistyped one
 * (EIP-55). Within the page, and for the node, addresses are in lower case. The last 8,192 are remembered (viem).
 */
export function withChecksum(address: string): string {
  return checksumAddress(address as `0x${string}`);
}

/** The reading of an address from a visitor or a link. */
export type AddressReading =
  | { readonly kind: "none" }
  /** An address in lower case; `mistyped` when its capital letters are not the checksum of its digits. */
  | { readonly kind: "address" | "mistyped"; readonly address: string };

/**
 * Reads an address, with or without 0x. Letters of one case, as programs write them, have no checksum; mixed case is a
 * checksum, which must fit.
 */
export function readAddress(text: string): AddressReading {
  const [, digits] = /^(?:0x)?([0-9a-f]{40})$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return { kind: "none" };
  const address = `0x${digits.toLowerCase()}`;
  const isMixed = /[a-f]/.test(digits) && /[A-F]/.test(digits);
  const isMistyped = isMixed && withChecksum(address) !== `0x${digits}`;
  return { kind: isMistyped ? "mistyped" : "address", address };
}

/** Explanation of a mistyped address for the visitor. */
export const MISTYPED =
  "The capital letters of this address do not fit its digits, so one of them is mistyped.";

export function accountPath(address: string): string {
  return `/address/${withChecksum(address)}`;
}

export function tokenPath(address: string): string {
  return `/token/${withChecksum(address)}`;
}
