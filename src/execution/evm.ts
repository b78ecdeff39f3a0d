import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Overlay } from "../state/overlay.ts";
import type { Log } from "../types/log.ts";
import type { AccessJournal } from "./accessJournal.ts";
import type { BlockContext } from "./blockContext.ts";
import type { HaltReason } from "./haltReason.ts";
import type { ChainConfig } from "./libraryCommon.ts";
import type { ExecutionObserver } from "./observer.ts";
import type { PrecompileOverrides } from "./precompiles/overrides.ts";
import type { Rules } from "./rules.ts";
import type { YieldPolicy } from "./yieldPolicy.ts";

/**
 * Runs the code of contracts: the only door to the interpreter, narrow enough to put another one behind it. What is
 * around code (who may send, what gas costs, who is paid) is not its business.
 *
 * An Evm belongs to one job. It keeps state of its own, and every await is a chance for another job to run.
 */
export interface Evm {
  /** Runs one message from the outside, calls within calls included. Throws OutOfTime when the pace says so. */
  run(message: Message): Promise<MessageResult>;
}

/** What an Evm works on. */
export interface EvmParts {
  readonly config: ChainConfig;
  readonly rules: Rules;
  readonly block: BlockContext;
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  readonly yieldPolicy: YieldPolicy;
  readonly precompiles?: PrecompileOverrides | undefined;
  readonly observed: Observed;
  /** Is told of each call and instruction; without one nothing of it costs anything. */
  readonly observer?: ExecutionObserver | undefined;
}

/** A call, or without `to` a creation, by an account whose nonce was raised and whose gas was paid already. */
export interface Message {
  readonly caller: Address;
  readonly to: Address | undefined;
  readonly value: bigint;
  readonly data: Uint8Array;
  /** Gas left for execution. */
  readonly gasLimit: bigint;
  readonly gasPrice: bigint;
  readonly blobVersionedHashes: readonly Hash[];
}

export interface MessageResult {
  readonly outcome:
    | { readonly kind: "succeeded" }
    | { readonly kind: "reverted" }
    | { readonly kind: "halted"; readonly reason: HaltReason };
  readonly gasUsed: bigint;
  /** The refund counter; zero unless it succeeded. */
  readonly gasRefund: bigint;
  /** What was returned, or given to REVERT; the new code for a creation. */
  readonly output: Uint8Array;
  readonly logs: readonly Log[];
  /** Accounts to delete at the end of the transaction. */
  readonly destroyed: readonly Address[];
}

/**
 * What the incumbent's gas estimation watches (json-rpc.md#eth_estimategas). May be kept over several runs.
 */
export interface Observed {
  /** Deepest frame in which an instruction was executed; -1 when none was. */
  maxDepth: number;
  /** True when any SSTORE was tried. */
  hasStored: boolean;
}

export function nothingObserved(): Observed {
  return { maxDepth: -1, hasStored: false };
}
