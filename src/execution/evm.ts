import type { Address } from "../primitives/address.ts";
import type { Eventual } from "../primitives/eventual.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Overlay } from "../state/overlay.ts";
import type { Log } from "../types/log.ts";
import type { AccessJournal } from "./accessJournal.ts";
import type { BlockContext } from "./blockContext.ts";
import type { ChainConfig } from "./chainConfig.ts";
import type { Effects } from "./effectCost.ts";
import type { HaltReason } from "./haltReason.ts";
import type { MessageObserver } from "./messageObserver.ts";
import type { ExecutionObserver } from "./observer.ts";
import type { PrecompileOverrides } from "./precompiles/precompileOverrides.ts";
import type { Rules } from "./rules.ts";
import type { YieldPolicy } from "./yieldPolicy.ts";

/**
 * Runs the code of contracts: the only interface to the interpreter, narrow enough to replace the implementation.
 * Everything around code (who may send, what gas costs, who is paid) is left to the callers.
 *
 * An Evm belongs to one job: it is stateful, and other jobs may run at every await.
 */
export interface Evm {
  /**
   * Runs one top-level message with all its nested calls, synchronously unless it is time to yield. Throws OutOfTime as
   * YieldPolicy does.
   */
  run(message: Message): Eventual<MessageResult>;
}

/** The parts that an Evm is created from. */
export interface EvmParts {
  readonly config: ChainConfig;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  readonly yieldPolicy: YieldPolicy;
  readonly precompiles?: PrecompileOverrides | undefined;
  readonly observed: Observed;
  /** Receives each call and instruction; costs nothing if absent. */
  readonly observer?: ExecutionObserver | undefined;
  /** Receives calls only; used when there is no observer. */
  readonly messages?: MessageObserver | undefined;
}

/** A call, or without `to` a creation, by a sender whose nonce is already incremented and whose gas is already paid. */
export interface Message {
  readonly caller: Address;
  readonly to: Address | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  /** Gas left for execution. */
  readonly gasLimit: bigint;
  readonly gasPrice: bigint;
  readonly blobVersionedHashes: readonly Hash[];
  /** Number of accounts that authorizations of the same transaction have changed, if any: they count for its effects. */
  readonly changes?: number;
}

export interface MessageResult {
  readonly outcome:
    | { readonly kind: "succeeded" }
    | { readonly kind: "reverted" }
    | { readonly kind: "halted"; readonly reason: HaltReason };
  readonly gasUsed: bigint;
  /** The refund counter; zero unless the message succeeded. */
  readonly gasRefund: bigint;
  /** The data of RETURN or REVERT; the new code for a creation. */
  readonly output: Uint8Array;
  readonly logs: readonly Log[];
  readonly effects: Effects;
  /** Accounts to delete at the end of the transaction. */
  readonly destroyed: readonly Address[];
}

/** What Besu's gas estimation observes (json-rpc.md#eth_estimategas). May accumulate over several runs. */
export interface Observed {
  /** Deepest frame in which an instruction was executed; -1 if none was. */
  maxDepth: number;
  /** True if any SSTORE was attempted. */
  hasStored: boolean;
}

export function nothingObserved(): Observed {
  return { maxDepth: -1, hasStored: false };
}
