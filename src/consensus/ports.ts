import type { Candidate } from "../ibft/candidate.ts";
import type { Authored } from "../ibft/message.ts";
import type { Address } from "../primitives/address.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import type { NamedHeader } from "../types/block.ts";
import type { ValidatorVote } from "../types/extraData.ts";

/** What a candidate is to be built from. */
export interface BuildOrder {
  readonly parent: NamedHeader;
  readonly round: number;
  /** Seconds; already right against the parent, not to be adjusted. */
  readonly timestamp: bigint;
  readonly vote?: ValidatorVote;
}

/**
 * Builds a candidate on `parent`, executes it and keeps the execution for the commit. Undefined when it could not be
 * built (the parent is no longer the head). A later call makes the answer of an earlier one worthless.
 */
export interface CandidateBuilder {
  build(order: BuildOrder): Promise<Candidate | undefined>;
}

/**
 * Judges and executes a candidate that we did not build in this run, as an import would but for the seals, and keeps
 * the execution for the commit. False when it is unsound; undefined when its height is decided meanwhile, so that
 * nobody cares, and when `signal` was aborted because its round is over: it stops then, however long it would take.
 */
export interface CandidateChecker {
  check(candidate: Candidate, signal: AbortSignal): Promise<boolean | undefined>;
}

/**
 * Makes an agreed block part of the chain, durably; true also when it already is (known by its chain hash, whatever
 * its round and seals). The new head is told through `headAdvanced`, by this way or any other.
 */
export interface Committer {
  commit(candidate: Candidate, seals: readonly Signature[]): Promise<boolean>;
}

/** The memory of our votes: one record, the last one written. */
export interface VoteLog {
  /** Undefined when nothing was ever written; throws when what is there is damaged. */
  read(): Uint8Array | undefined;
  /** Resolves when the record would survive a power cut. */
  write(bytes: Uint8Array): Promise<void>;
}

/** Carries a message of ours to the validators that are reachable; a message that gets lost is nobody's fault. */
export interface Outbox {
  multicast(message: Authored, validators: readonly Address[]): void;
  /** Of the node at the other end, once for each connection. Absent where there is no network. */
  connected?(): readonly Address[];
}

/** Takes bytes to those of the addresses that are connected; what gets lost is nobody's fault. */
export interface Carrier {
  send(
    code: number,
    payload: Uint8Array,
    recipients: { readonly to: readonly Address[]; readonly except: readonly Address[] },
  ): void;
}
