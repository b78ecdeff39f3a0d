import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";
import { type Committee, isMember, isProposer } from "./committee.ts";
import type {
  PreparedCertificate,
  PreparePayload,
  ProposalPayload,
  RoundChangeCertificate,
  RoundChangePayload,
  Signed,
} from "./message.ts";

export const CERTIFICATE_FLAWS = [
  "authorNotValidator",
  "duplicateAuthors",
  "wrongHeight",
  "wrongRound",
  "wrongProposer",
  "prepareByProposer",
  "wrongDigest",
  "tooFewPrepares",
  "tooFewRoundChanges",
] as const;

export type CertificateFlaw = (typeof CERTIFICATE_FLAWS)[number];

/**
 * Finds what is wrong with a signed wish for a round, certificate included (ibft2.md#round-change-rules);
 * undefined when nothing is.
 */
export function findRoundChangeFlaw(
  committee: Committee,
  { author, payload }: Signed<RoundChangePayload>,
): CertificateFlaw | undefined {
  if (!isMember(committee, author)) return "authorNotValidator";
  if (payload.height !== committee.height) return "wrongHeight";
  if (payload.round === 0) return "wrongRound";
  if (payload.prepared === undefined) return undefined;
  if (payload.prepared.proposal.payload.round >= payload.round) return "wrongRound";
  return findPreparedFlaw(committee, payload.prepared);
}

/** Finds what is wrong with the proof that a block was prepared. It may hold more Prepares than needed. */
function findPreparedFlaw(
  committee: Committee,
  { proposal, prepares }: PreparedCertificate,
): CertificateFlaw | undefined {
  if (proposal.payload.height !== committee.height) return "wrongHeight";
  if (!isProposer(committee, proposal.payload.round, proposal.author)) return "wrongProposer";
  if (hasDuplicates(prepares.map(({ author }) => author))) return "duplicateAuthors";
  if (prepares.length < committee.prepareQuorum) return "tooFewPrepares";
  for (const prepare of prepares) {
    const flaw = findPrepareFlaw(committee, prepare, proposal);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

/** Finds what is wrong with the proof that a quorum asked for `round` (ibft2.md#proposal-rules, item 3). */
export function findRoundChangesFlaw(
  committee: Committee,
  round: number,
  certificate: RoundChangeCertificate,
): CertificateFlaw | undefined {
  if (certificate.length < committee.quorum) return "tooFewRoundChanges";
  if (hasDuplicates(certificate.map(({ author }) => author))) return "duplicateAuthors";
  for (const roundChange of certificate) {
    if (roundChange.payload.round !== round) return "wrongRound";
    const flaw = findRoundChangeFlaw(committee, roundChange);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

/** The prepared certificate of the highest round among them; the first of several, none when nobody has any. */
export function highestPrepared(roundChanges: RoundChangeCertificate): PreparedCertificate | undefined {
  let highest: PreparedCertificate | undefined;
  for (const { payload } of roundChanges) {
    const round = payload.prepared?.proposal.payload.round ?? -1;
    if (round > (highest?.proposal.payload.round ?? -1)) highest = payload.prepared;
  }
  return highest;
}

function findPrepareFlaw(
  committee: Committee,
  { author, payload }: Signed<PreparePayload>,
  { author: proposer, payload: proposal }: Signed<ProposalPayload>,
): CertificateFlaw | undefined {
  if (!isMember(committee, author)) return "authorNotValidator";
  if (equalBytes(author, proposer)) return "prepareByProposer";
  if (payload.height !== proposal.height) return "wrongHeight";
  if (payload.round !== proposal.round) return "wrongRound";
  return equalBytes(payload.digest, proposal.digest) ? undefined : "wrongDigest";
}

function hasDuplicates(addresses: readonly Address[]): boolean {
  return new Set(addresses.map(toKey)).size < addresses.length;
}
