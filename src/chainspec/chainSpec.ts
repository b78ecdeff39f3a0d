import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Header } from "../types/header.ts";
import type { ForkSchedule } from "./forks.ts";
import type { IbftSchedule } from "./ibftParameters.ts";

/** Everything that a genesis file fixes for a network; read once and never changed. */
export interface ChainSpec {
  readonly chainId: bigint;
  readonly forks: ForkSchedule;
  readonly ibft: IbftSchedule;
  readonly genesis: GenesisBlock;
  /** Largest contract code in bytes (EIP-170: 24,576 unless config.contractSizeLimit says otherwise). */
  readonly contractSizeLimitBytes: number;
  readonly evmStackSize: number;
  readonly isZeroBaseFee: boolean;
  /** Base fee of every block, equal to the genesis block's (config.fixedBaseFee). */
  readonly fixedBaseFeePerGas?: bigint;
  /** Base fee of the first London block, wei. */
  readonly initialBaseFeePerGas: bigint;
  readonly bootnodes: readonly string[];
  /** enrtree URL of a list of nodes in DNS (config.discovery.dns). */
  readonly dnsList?: string;
}

/** Block zero. The header has the empty state root; `state` derives the real one from `alloc`. */
export interface GenesisBlock {
  readonly header: Header;
  readonly alloc: readonly GenesisAccount[];
}

export interface GenesisAccount {
  readonly address: Address;
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly code: Uint8Array;
  /** Slots have 32 bytes; values are non-zero and without leading zeros. */
  readonly storage: readonly { readonly slot: Hash; readonly value: Uint8Array }[];
}
