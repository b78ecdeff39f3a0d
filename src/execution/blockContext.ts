import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";

/** The fields of the current block that code can read or fees depend on. */
export interface BlockContext {
  readonly number: bigint;
  /** Seconds. */
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  /**
   * Receives fees and reward, and is what COINBASE returns: the miningbeneficiary if one is set
   * (ibft2.md#reward-and-fees).
   */
  readonly beneficiary: Address;
  readonly baseFeePerGas?: bigint | undefined;
  /** What opcode 0x44 returns up to London. */
  readonly difficulty: bigint;
  /** What opcode 0x44 returns from Shanghai on (ibft2.md#later-forks). */
  readonly mixHash: Hash;
  /** Wei per unit of blob gas, and what BLOBBASEFEE returns. */
  readonly blobBaseFee: bigint;
  /** Chain hash of one of the last 256 blocks, for BLOCKHASH; undefined if there is none. */
  readonly hashOf: (number: bigint) => Hash | undefined;
}
