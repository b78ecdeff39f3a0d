import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Requester } from "../primitives/requester.ts";
import type { AccessListEntry, Authorization } from "../types/transaction.ts";

/**
 * A call that leaves no trace: eth_call, eth_estimateGas, eth_createAccessList (json-rpc.md#call-object).
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
  /** Not empty: the call is a set-code transaction (EIP-7702), which only some forks have. */
  readonly authorizationList?: readonly Authorization[];
  /**
   * Whether gas costs what the call names; absent means Besu's rule decides (json-rpc.md#eth_call). When
   * true, the sender must own what it costs.
   */
  readonly strict?: boolean;
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

/** What a caller wants to be otherwise before a call. */
export interface Overrides {
  readonly accounts?: readonly AccountOverride[];
  readonly block?: BlockOverride;
}

export interface AccountOverride {
  readonly address: Address;
  readonly nonce?: bigint;
  readonly balance?: bigint;
  readonly code?: Uint8Array;
  /** Where the precompiled contract of the address is to answer instead. */
  readonly precompileTo?: Address;
  /** Slots that take the place of all that the account has, or only of those that they name. */
  readonly storage?: {
    readonly replacesAll: boolean;
    readonly slots: readonly { readonly slot: Hash; readonly value: Uint8Array }[];
  };
}

/** Members that are absent stay as the block has them. */
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

/** An account with the slots that a call touched, one behind the other: many arrays take long from thread to thread. */
export interface TouchedSlots {
  readonly address: Address;
  readonly slots: Uint8Array;
}

/** Bytes of each. */
export const SLOT_LENGTH = 32;

/** What came of a simulation. `gas` is gas used for a call, the estimate for estimateGas. */
export type SimulationResult =
  | {
      readonly kind: "returned";
      readonly data: Uint8Array;
      readonly gas: bigint;
      readonly accessList?: readonly TouchedSlots[];
    }
  /** A REVERT; `data` is its whole output. */
  | { readonly kind: "reverted"; readonly data: Uint8Array; readonly gas: bigint }
  /**
   * An exceptional halt; `reason` in the incumbent's spelling, such as INSUFFICIENT_GAS
   * (json-rpc.md#eth_estimategas).
   */
  | { readonly kind: "halted"; readonly reason: string; readonly gas: bigint }
  /** Refused before the first instruction. */
  | { readonly kind: "refused"; readonly code: SimulationErrorCode; readonly detail: string }
  | { readonly kind: "stateUnavailable" }
  | { readonly kind: "timedOut"; readonly limitMs: number }
  /** It takes or returns more memory than one call may. */
  | { readonly kind: "tooLarge" }
  /** Too much waits, and this asker has most of it. */
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
 * Runs simulations where they can be killed: on worker threads with a time limit (architecture.md#threads).
 */
export interface Simulator {
  /** An asker who is gone is answered as one whose time is up. */
  run(job: SimulationJob, requester: Requester): Promise<SimulationResult>;
}
