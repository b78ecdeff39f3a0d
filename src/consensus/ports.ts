import type { Candidate } from "../ibft/candidate.ts";
import type { SignedMessage } from "../ibft/message.ts";
import type { OwnSeal } from "../ibft/state.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import type { NamedHeader } from "../types/block.ts";
import type { ValidatorVote } from "../types/extraData.ts";

/** The inputs for building a candidate. */
export interface BuildOrder {
  readonly parent: NamedHeader;
  readonly round: number;
  /** Unix seconds, already checked against the parent and used as is. */
  readonly timestamp: bigint;
  readonly vote?: ValidatorVote;
}

/**
 * Builds a candidate on `parent`, executes it and keeps the execution for the commit. Undefined when it could not be
 * built (the parent is no longer the head). A later call supersedes an earlier one.
 */
export interface CandidateBuilder {
  build(order: BuildOrder): Promise<Candidate | undefined>;
}

/**
 * Validates and executes a candidate that this process did not build, like an import without seals, and keeps the
 * execution for the commit. False when it is invalid; undefined when its height has been decided in the meantime, or when
 * `signal` was aborted because the round is over, which stops the execution.
 */
export interface CandidateChecker {
  check(candidate: Candidate, signal: AbortSignal): Promise<boolean | undefined>;
}

/**
 * Commits a decided block durably to the chain; also true when the chain already has it (by its chain hash, regardless of
 * round and seals). The new head arrives through `headAdvanced`, as for any other commit.
 */
export interface Committer {
  commit(candidate: Candidate, seals: readonly Signature[]): Promise<boolean>;
}

/** A request for a signature: `digest` is keccak256 of `preimage`. */
export interface SignatureRequest {
  readonly digest: Hash;
  readonly preimage: Uint8Array;
}

/** Signs with our key in another process. */
export interface RemoteSigner {
  /** Resolves to the verified signature, however many requests it takes; undefined once `signal` aborts. Never rejects. */
  sign(request: SignatureRequest, signal: AbortSignal): Promise<Signature | undefined>;
}

/** Searches our chain for blocks that our key has signed. */
export interface OwnSeals {
  /** The block of that number if it has our seal, or was decided in a round whose proposer we are. */
  find(number: bigint): OwnSeal | undefined;
}

/** Sends our messages to the reachable validators; delivery is not guaranteed. */
export interface Outbox {
  multicast(message: SignedMessage, validators: readonly Address[]): void;
  /** Addresses of the nodes that keep their connections with this one, once for each connection. Absent without a network. */
  connected?(): readonly Address[];
  /** Sends a notice of a shared key to every connected node. Absent without a network. */
  sendNotice?(message: SignedMessage): void;
}

/** Sends bytes to those of the addresses that are connected; delivery is not guaranteed. */
export interface Carrier {
  send(
    code: number,
    payload: Uint8Array,
    recipients: { readonly to: readonly Address[]; readonly except: readonly Address[] },
  ): void;
  /** All connected addresses, validators or not; unknown when absent. */
  readonly connected?: readonly Address[];
}
