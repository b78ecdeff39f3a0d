import { concatBytes, hexToBytes } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";

/** Returns the slot that the first word of its input names. */
const READ = "5f35545f5260205ff3";
/** Stores the second word of its input in the slot that the first one names, and logs it under the slot as topic. */
const WRITE = "6020355f35555f356020355f5260205fa100";
/** Goes to its JUMPDEST at byte 16, where it writes, when the input has 64 bytes; else it reads. */
const RUNTIME = `60403614601057${READ}5b${WRITE}`;

/** Creates a contract of numbered registers that needs no compiler: it writes, logs, and reads again. */
export const REGISTER_CREATION: Uint8Array = hexToBytes(`0x60238060095f395ff3${RUNTIME}`);

export function writeRegister(slot: number, value: bigint): Uint8Array {
  return concatBytes(readRegister(slot), bigintToFixedBytes(value, 32));
}

export function readRegister(slot: number): Uint8Array {
  return bigintToFixedBytes(BigInt(slot), 32);
}
