import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { packBytes, recordsOf } from "../../primitives/packedBytes.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { Header } from "../../types/header.ts";
import type { AccessListEntry, Authorization, TransactionType } from "../../types/transaction.ts";

/**
 * A simulated call: eth_call, eth_estimateGas, eth_createAccessList (json-rpc.md#call-object).
 * Prices and value in wei.
 */
export interface CallRequest {
  readonly from?: Address;
  readonly to?: Address;
  readonly gasLimit?: bigint;
  readonly gasPrice?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly value?: bigint;
  readonly data?: Uint8Array;
  readonly accessList?: readonly AccessListEntry[];
  readonly maxFeePerBlobGas?: bigint;
  readonly blobVersionedHashes?: readonly Hash[];
  /** If not empty, the call is a set-code transaction (EIP-7702), which only some forks have. */
  readonly authorizationList?: readonly Authorization[];
  /**
   * Whether gas is charged at the call's price; if absent, Besu's rule decides (json-rpc.md#eth_call). When true, the
   * sender must own what it costs.
   */
  readonly strict?: boolean;
}

/**
 * The type of the transaction that a call represents in a block: the newest that has the call's fields. A gas price makes
 * it an older one in spite of a base fee, and an access list one of type 1, even an empty list, as in Besu and go-ethereum.
 */
export function transactionTypeOf(
  { authorizationList = [], blobVersionedHashes = [], accessList, gasPrice }: CallRequest,
  { baseFeePerGas }: Pick<Header, "baseFeePerGas">,
): TransactionType {
  if (authorizationList.length > 0) return 4;
  if (blobVersionedHashes.length > 0) return 3;
  if (baseFeePerGas !== undefined && gasPrice === undefined) return 2;
  return accessList === undefined ? 0 : 1;
}

export type SimulationJob =
  | (CallJob & { readonly kind: "call" })
  | (CallJob & { readonly kind: "estimateGas" })
  | (CallJob & { readonly kind: "createAccessList" });

interface CallJob {
  readonly call: CallRequest;
  readonly blockNumber: bigint;
  readonly overrides?: Overrides;
}

/** Changes that a caller wants applied before a call. */
export interface Overrides {
  readonly accounts?: readonly AccountOverride[];
  readonly block?: BlockOverride;
}

export interface AccountOverride {
  readonly address: Address;
  readonly nonce?: bigint;
  readonly balance?: bigint;
  readonly code?: Uint8Array;
  /** Moves the precompiled contract at `address` to this one. */
  readonly precompileTo?: Address;
  /** Slots that replace all of the account's storage, or only the slots given. */
  readonly storage?: {
    readonly replacesAll: boolean;
    readonly slots: readonly { readonly slot: Hash; readonly value: Uint8Array }[];
  };
}

/** Absent members keep the block's value. */
export interface BlockOverride {
  readonly number?: bigint;
  readonly timestamp?: bigint;
  readonly gasLimit?: bigint;
  readonly beneficiary?: Address;
  readonly mixHash?: Hash;
  readonly difficulty?: bigint;
  /** Wei. */
  readonly baseFeePerGas?: bigint;
  /** Wei. */
  readonly blobBaseFee?: bigint;
}

/** An account with the touched slots concatenated. */
export interface TouchedSlots {
  readonly address: Uint8Array;
  readonly slots: Uint8Array;
}

/** Packs accounts with touched slots as one piece of memory: many small arrays are slow to pass between threads. */
export function packTouched(touched: readonly TouchedSlots[]): Uint8Array<ArrayBuffer> {
  return packBytes(touched.flatMap(({ address, slots }) => [address, slots]));
}

/** What packTouched packed, as views. */
export function unpackTouched(packed: Uint8Array<ArrayBuffer> = NOTHING): Iterable<TouchedSlots> {
  return recordsOf(packed, ["address", "slots"]);
}

const NOTHING = new Uint8Array(0);

/** Bytes of each slot. */
export const SLOT_LENGTH = 32;

/** Result of a simulation. `gas` is the gas used for a call, or the estimate for estimateGas. */
export type SimulationResult =
  | {
      readonly kind: "returned";
      readonly data: Uint8Array;
      readonly gas: bigint;
      /** The accounts with touched slots, packed (packTouched). */
      readonly accessList?: Uint8Array<ArrayBuffer>;
    }
  /** A REVERT; `data` is its whole output. */
  | { readonly kind: "reverted"; readonly data: Uint8Array; readonly gas: bigint }
  /** An exceptional halt; `reason` in Besu's spelling, such as INSUFFICIENT_GAS (json-rpc.md#eth_estimategas). */
  | { readonly kind: "halted"; readonly reason: string; readonly gas: bigint }
  /** Refused before the first instruction. */
  | { readonly kind: "refused"; readonly code: SimulationErrorCode; readonly detail: string }
  | { readonly kind: "stateUnavailable" }
  | { readonly kind: "timedOut"; readonly limitMs: number }
  /** The call takes or returns more memory than one call may. */
  | { readonly kind: "tooLarge" }
  /** The queue is full, and this requester has the largest share of it. */
  | { readonly kind: "busy" };

export type SimulationErrorCode =
  | "precompileNotMovable"
  | "intrinsicGasAboveLimit"
  | "upfrontCostAboveBalance"
  | "gasPriceBelowBaseFee"
  | "priorityFeeAboveFeeCap"
  | "initCodeTooLarge"
  | "nonceOverflow"
  | "upfrontCostOverflow"
  | "invalidTransactionType"
  | "invalidBlobs"
  | "blobFeeBelowBaseFee";

/**
 * Runs simulations where they can be terminated: on worker threads with a time limit (architecture.md#threads).
 */
export interface Simulator {
  /** A job whose requester has disconnected ends as timed out. */
  run(job: SimulationJob, requester: Requester): Promise<SimulationResult>;
}
