import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { ReadDump } from "../../state/dump/readDump.ts";
import type { WrittenDump } from "../../state/dump/writeDump.ts";
import type { Account } from "../../types/account.ts";
import type { BlockStateCalls } from "./blockStateCalls.ts";
import type { BlocksAnswer } from "./simulateBlocks.ts";

/** A position in a block: after its first `transactions`. */
export interface TransactionPosition {
  readonly blockNumber: bigint;
  readonly transactions: number;
}

/** A query on a state (debug_accountAt, debug_accountRange, debug_storageRangeAt), on two, or on none that is stored. */
export type StateQuery =
  | { readonly kind: "account"; readonly at: TransactionPosition; readonly address: Address }
  /** The accounts after a block, ordered by the hashes of their addresses, starting at `from`. */
  | {
      readonly kind: "accounts";
      readonly blockNumber: bigint;
      readonly from: Hash;
      readonly limit: number;
    }
  /** The accounts that differ between the states after two blocks (debug_getModifiedAccountsByNumber). */
  | {
      readonly kind: "changedAccounts";
      readonly from: bigint;
      readonly to: bigint;
      readonly limit: number;
    }
  /** The slots of an account, ordered by their hashes, starting at `from`. */
  | {
      readonly kind: "slots";
      readonly at: TransactionPosition;
      readonly address: Address;
      readonly from: Hash;
      readonly limit: number;
    }
  /** The state after a block, for another development network (anvil_dumpState). */
  | { readonly kind: "dump"; readonly blockNumber: bigint }
  /** The accounts of such a dump. */
  | { readonly kind: "readDump"; readonly dump: Uint8Array }
  /** Hypothetical blocks on top of a block of the chain (eth_simulateV1). */
  | { readonly kind: "blocks"; readonly blockNumber: bigint; readonly request: BlockStateCalls };

interface StateQueries {
  readonly blocks: BlocksAnswer;
  readonly dump: WrittenDump;
  readonly readDump: ReadDump;
  readonly account: {
    readonly kind: "account";
    readonly account: (Account & { readonly code: Uint8Array }) | undefined;
  };
  readonly accounts: {
    readonly kind: "accounts";
    /** Hash and address of each account, packed (packedBytes.ts); the address is empty if only its hash is known. */
    readonly accounts: Uint8Array<ArrayBuffer>;
    /** The first hash beyond the limit. */
    readonly next: Hash | undefined;
  };
  readonly changedAccounts:
    | {
        readonly kind: "changedAccounts";
        /** Addresses in the order of their hashes, 20 bytes each: a list of objects would take longer to cross threads. */
        readonly addresses: Uint8Array;
      }
    | { readonly kind: "tooManyAccounts" }
    /** The database was created before addresses were stored, and only this hash of one is known. */
    | { readonly kind: "unknownAddress"; readonly hash: Hash };
  readonly slots: {
    readonly kind: "slots";
    /**
     * Hash, slot and value of each, packed (packedBytes.ts); the slot is empty if only its hash is known, and the value has no
     * leading zeros.
     */
    readonly slots: Uint8Array<ArrayBuffer>;
    readonly next: Hash | undefined;
  };
}

/** Reason why there is no answer. */
export type StateQueryError =
  | { readonly kind: "stateUnavailable" }
  | { readonly kind: "timedOut"; readonly limitMs: number }
  /** The execution that the query starts with exceeds its memory budget. */
  | { readonly kind: "tooLarge" }
  /** The queue is full, and this requester has the largest share of it. */
  | { readonly kind: "busy" };

export type StateQueryResult<Job extends StateQuery = StateQuery> =
  | StateQueries[Job["kind"]]
  | StateQueryError;

/** Runs state queries where they can be terminated: on the threads of simulations, with their time limit. */
export interface StateQueryRunner {
  /** A query whose requester has disconnected ends as timed out. */
  query<Job extends StateQuery>(job: Job, requester: Requester): Promise<StateQueryResult<Job>>;
}
