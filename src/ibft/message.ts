import type { Address } from "../primitives/address.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import type { Digest } from "../types/blockHash.ts";
import type { Candidate } from "./candidate.ts";

/**
 * What validators tell each other, decoded and with signers recovered (ibft2.md#messages; spelled by
 * payloadCodec.ts).
 */
export type Authored = Proposal | Prepare | Commit | RoundChange;

export type Payload = ProposalPayload | PreparePayload | CommitPayload | RoundChangePayload;

/** A payload under its author's signature. The author was recovered from it, so it cannot be claimed. */
export interface Signed<P extends Payload> {
  readonly payload: P;
  readonly signature: Signature;
  readonly author: Address;
}

/** "This block, in this round": from the round's proposer, with the proof that the round was asked for if it is not 0. */
export interface Proposal {
  readonly kind: "proposal";
  readonly signed: Signed<ProposalPayload>;
  readonly candidate: Candidate;
  readonly certificate?: RoundChangeCertificate;
}

/** "I have checked it." */
export interface Prepare {
  readonly kind: "prepare";
  readonly signed: Signed<PreparePayload>;
}

/** "A quorum has checked it; here is my seal." */
export interface Commit {
  readonly kind: "commit";
  readonly signed: Signed<CommitPayload>;
  /** Who made the seal, recovered over the payload's digest; undefined when it fits no key. */
  readonly sealer: Address | undefined;
}

/** "Let us try the next round", with the block that was prepared, if one was. */
export interface RoundChange {
  readonly kind: "roundChange";
  readonly signed: Signed<RoundChangePayload>;
  /** The block of the payload's prepared certificate, in the certificate's round. */
  readonly candidate?: Candidate;
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
  /** The round that is asked for. */
  readonly round: number;
  readonly prepared?: PreparedCertificate;
}

/** Proof that a quorum stood behind one block in one round: the Proposal and a quorum less one of Prepares. */
export interface PreparedCertificate {
  readonly proposal: Signed<ProposalPayload>;
  readonly prepares: readonly Signed<PreparePayload>[];
}

/** Proof that a quorum asked for a round, in order of arrival. */
export type RoundChangeCertificate = readonly Signed<RoundChangePayload>[];

/** A block that was prepared, with the proof. */
export interface PreparedBlock {
  readonly certificate: PreparedCertificate;
  /** In the certificate's round. */
  readonly candidate: Candidate;
}
