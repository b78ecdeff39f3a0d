import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";

/** A log entry of a receipt, written by a LOG opcode: at most four topics of 32 bytes. */
export interface Log {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Uint8Array;
}
