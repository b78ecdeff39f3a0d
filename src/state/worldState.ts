import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Batch } from "../storage/database.ts";
import type { Account } from "../types/account.ts";
import type { Overlay, StateChanges } from "./overlay.ts";
import type { StateReader } from "./stateReader.ts";

/** The state of the chain at every block: a flat column for the head, a versioned trie for all. */
export interface WorldState {
  /** State after the head block, from the flat column: the fastest read there is. Moves with the head. */
  readonly head: StateReader;
  /** State after block `number`, from the trie, verified by hash on a cold read; undefined when not stored. */
  at(number: bigint): StateReader | undefined;
  /** An empty overlay over the state after the head. */
  overlay(): Overlay;
  /** An empty overlay over the state after block `number`; undefined when that is not stored. */
  overlayAt(number: bigint): Overlay | undefined;
  /** Derives the state root after `changes` to the head's state, for a block at height `number`. Writes nothing. */
  stage(changes: StateChanges, number: bigint): StagedState;
  /** Makes a staged state the head's, after its batch has become durable. */
  adopt(staged: StagedState): void;
  /** Merkle proofs at block `number` (eth_getProof); undefined when that state is not stored. */
  prove(number: bigint, address: Address, slots: readonly Uint8Array[]): AccountProof | undefined;
  /** Adds to `batch` all that makes the state after block `number` the newest again; call `rewound` once it is durable. */
  rewind(number: bigint, batch: Batch): Promise<void>;
  /** Forgets caches after a durable rewind to block `number`. */
  rewound(number: bigint): void;
}

/** A state root with the writes that make it real, waiting for its block to be committed or dropped. */
export interface StagedState {
  readonly root: Hash;
  readonly number: bigint;
  /** Adds trie nodes, flat entries, code and the state's commit entry to the block's one batch. */
  writeTo(batch: Batch): void;
}

/** Nodes from the root downwards, as RLP. `account` is absent when the proof is one of exclusion. */
export interface AccountProof {
  readonly account?: Account;
  readonly accountProof: readonly Uint8Array[];
  readonly storageProof: readonly {
    readonly slot: Uint8Array;
    readonly value: Uint8Array;
    readonly proof: readonly Uint8Array[];
  }[];
}
