import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";

/** What a LOG opcode leaves in a receipt: at most four topics of 32 bytes. */
export interface Log {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Uint8Array;
}
