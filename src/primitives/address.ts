import { hexToBytes } from "./hex.ts";
import { bigintToFixedBytes } from "./quantity.ts";

/** A 20-byte account address. */
export type Address = Uint8Array & { readonly __brand: "address" };

/** Brands 20 bytes as an address; throws RangeError for another length. */
export function asAddress(bytes: Uint8Array): Address {
  if (bytes.length !== 20) throw new RangeError(`an address has 20 bytes, not ${bytes.length}`);
  return bytes as Address;
}

/** Address from a constant in the source; throws RangeError when malformed. */
export function addressFromHex(text: string): Address {
  return asAddress(hexToBytes(text));
}

/** Address in a 32-byte word: its low 20 bytes; ignores the high bytes. */
export function addressOfWord(word: bigint): Address {
  return asAddress(bigintToFixedBytes(word & LOW_160_BITS, 20));
}

const LOW_160_BITS = (1n << 160n) - 1n;

export const ZERO_ADDRESS: Address = asAddress(new Uint8Array(20));
