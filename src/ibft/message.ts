import type { Address } from "../primitives/address.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import type { Digest } from "../types/blockHash.ts";
import type { Candidate } from "./candidate.ts";

/**
 * The messages of validators, decoded and with signers recovered (ibft2.md#messages); codec/ encodes
 * and decodes them.
 */
export type SignedMessage = Proposal | Prepare | Commit | RoundChange;

export type Payload = ProposalPayload | PreparePayload | CommitPayload | RoundChangePayload;

/** A payload with its author's signature. The author is recovered from the signature, so it cannot be forged. */
export interface Signed<P extends Payload> {
  readonly payload: P;
  readonly signature: Signature;
  readonly author: Address;
}

/** "This block, in this round": from the round's proposer, with a round-change certificate if the round is not 0. */
export interface Proposal {
  readonly kind: "proposal";
  readonly signed: Signed<ProposalPayload>;
  readonly candidate: Candidate;
  readonly certificate?: RoundChangeCertificate;
}

/** "I have validated the proposed block." */
export interface Prepare {
  readonly kind: "prepare";
  readonly signed: Signed<PreparePayload>;
}

/** "A quorum has prepared the block; here is my seal." */
export interface Commit {
  readonly kind: "commit";
  readonly signed: Signed<CommitPayload>;
  /** The signer of the seal, recovered over the payload's digest; undefined when no key can be recovered. */
  readonly sealer: Address | undefined;
}

/** "Let us move to this round", with the block that its author saw prepared, if any. */
export interface RoundChange {
  readonly kind: "roundChange";
  readonly signed: Signed<RoundChangePayload>;
  /** The block of the payload's prepared certificate, in the certificate's round. */
  readonly candidate?: Candidate;
}

/** One attempt at one height. A height is the number of the block being decided: head + 1. */
export interface RoundId {
  readonly height: bigint;
  readonly round: number;
}

export interface ProposalPayload {
  readonly kind: "proposal";
  readonly height: bigint;
  readonly round: number;
  readonly digest: Digest;
}

export interface PreparePayload {
  readonly kind: "prepare";
  readonly height: bigint;
  readonly round: number;
  readonly digest: Digest;
}

export interface CommitPayload {
  readonly kind: "commit";
  readonly height: bigint;
  readonly round: number;
  readonly digest: Digest;
  readonly seal: Signature;
}

export interface RoundChangePayload {
  readonly kind: "roundChange";
  readonly height: bigint;
  /** The requested round. */
  readonly round: number;
  readonly prepared?: PreparedCertificate;
}

/** Proof that a quorum accepted one block in one round: the Proposal and a quorum less one of Prepares. */
export interface PreparedCertificate {
  readonly proposal: Signed<ProposalPayload>;
  readonly prepares: readonly Signed<PreparePayload>[];
}

/** Proof that a quorum requested a round, in order of arrival. */
export type RoundChangeCertificate = readonly Signed<RoundChangePayload>[];

/** A prepared block with its certificate. */
export interface PreparedBlock {
  readonly certificate: PreparedCertificate;
  /** The block, in the certificate's round. */
  readonly candidate: Candidate;
}
