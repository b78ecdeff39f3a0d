import { concatBytes, hexToBytes } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";

/** Returns the value of the slot given by the first word of the input. */
const READ = "5f35545f5260205ff3";
/** Stores the second word of the input in the slot given by the first, and logs it with the slot as topic. */
const WRITE = "6020355f35555f356020355f5260205fa100";
/** Jumps to byte 16 and writes if the input has 64 bytes; otherwise reads. */
const RUNTIME = `60403614601057${READ}5b${WRITE}`;

/** Init code of a contract with numbered registers to write, log and read; needs no compiler. */
export const REGISTER_CREATION: Uint8Array = hexToBytes(`0x60238060095f395ff3${RUNTIME}`);

export function writeRegister(slot: number, value: bigint): Uint8Array {
  return concatBytes(readRegister(slot), bigintToFixedBytes(value, 32));
}

export function readRegister(slot: number): Uint8Array {
  return bigintToFixedBytes(BigInt(slot), 32);
}
