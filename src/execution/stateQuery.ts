import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Requester } from "../primitives/requester.ts";
import type { Account } from "../types/account.ts";
import type { BlockStateCalls } from "./blockStateCalls.ts";
import type { BlocksAnswer } from "./simulateBlocks.ts";

/** In a block, when its first `transactions` have been executed; the rest of it has not happened. */
export interface TransactionPosition {
  readonly blockNumber: bigint;
  readonly transactions: number;
}

/** What is to be found out about a state (debug_accountAt, debug_accountRange, debug_storageRangeAt). */
export type StateQuery =
  | { readonly kind: "account"; readonly at: TransactionPosition; readonly address: Address }
  /** The accounts after a block, by the hashes of their addresses, from one on. */
  | {
      readonly kind: "accounts";
      readonly blockNumber: bigint;
      readonly from: Hash;
      readonly limit: number;
    }
  /** The slots of an account, by their hashes, from one on. */
  | {
      readonly kind: "slots";
      readonly at: TransactionPosition;
      readonly address: Address;
      readonly from: Hash;
      readonly limit: number;
    }
  /** Blocks that never were, on top of one of the chain (eth_simulateV1). */
  | { readonly kind: "blocks"; readonly blockNumber: bigint; readonly order: BlockStateCalls };

export interface StateQueries {
  readonly blocks: BlocksAnswer;
  readonly account: {
    readonly kind: "account";
    readonly account: (Account & { readonly code: Uint8Array }) | undefined;
  };
  readonly accounts: {
    readonly kind: "accounts";
    /** The address is absent where only its hash is known. */
    readonly accounts: readonly { readonly hash: Hash; readonly address: Address | undefined }[];
    /** The first that had no place. */
    readonly next: Hash | undefined;
  };
  readonly slots: {
    readonly kind: "slots";
    /** The slot is absent where only its hash is known; the value has no leading zeros. */
    readonly slots: readonly {
      readonly hash: Hash;
      readonly slot: Hash | undefined;
      readonly value: Uint8Array;
    }[];
    readonly next: Hash | undefined;
  };
}

/** Why there is no answer. */
export type StateQueryError =
  | { readonly kind: "stateUnavailable" }
  | { readonly kind: "timedOut"; readonly limitMs: number }
  /** The execution that it begins with takes more memory than one may. */
  | { readonly kind: "tooLarge" }
  /** Too much waits, and this asker has most of it. */
  | { readonly kind: "busy" };

export type StateQueryResult<Job extends StateQuery = StateQuery> =
  | StateQueries[Job["kind"]]
  | StateQueryError;

/** Finds out where it can be stopped: on the threads of simulations, with their time limit. */
export interface StateQueryRunner {
  /** An asker who is gone is answered as one whose time is up. */
  query<Job extends StateQuery>(job: Job, requester: Requester): Promise<StateQueryResult<Job>>;
}
