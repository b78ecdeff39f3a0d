import type { Hash } from "../primitives/hash.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import { chainHash, type Digest, sealDigest } from "../types/blockHash.ts";
import { decodeExtraData, type ExtraData, encodeExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import type { Transaction } from "../types/transaction.ts";

/**
 * A block that validators may agree on: complete except for the commit seals. Validators sign its digest, which differs
 * from round to round; its chain hash does not. Only the functions of this file create one, so its members are consistent.
 */
export interface Candidate {
  /** The header, whose extra data has all five items and no seals. */
  readonly header: Header;
  readonly extra: ExtraData;
  readonly transactions: readonly Transaction[];
  readonly digest: Digest;
  readonly hash: Hash;
}

/** A candidate of the given header, whose extra data is replaced by `extra` without its seals. */
export function createCandidate(
  header: Header,
  extra: ExtraData,
  transactions: readonly Transaction[],
): Candidate {
  const unsealed: ExtraData = { ...extra, seals: [] };
  const complete: Header = { ...header, extraData: encodeExtraData(unsealed) };
  return {
    header: complete,
    extra: unsealed,
    transactions,
    digest: sealDigest(complete, unsealed),
    hash: chainHash(complete, unsealed),
  };
}

/** The candidate of a decoded block (of a proposal or of the vote log); an error when its extra data does not decode. */
export function candidateOfBlock(block: {
  readonly header: Header;
  readonly transactions: readonly Transaction[];
}): Result<Candidate, "malformedExtraData"> {
  const extra = decodeExtraData(block.header.extraData);
  return extra.ok ? ok(createCandidate(block.header, extra.value, block.transactions)) : extra;
}

/** The same block in another round: only the round in the extra data changes (ibft2.md#new-round). */
export function withRound(candidate: Candidate, round: number): Candidate {
  if (candidate.extra.round === round) return candidate;
  return createCandidate(candidate.header, { ...candidate.extra, round }, candidate.transactions);
}

/** The header to commit: the candidate's, with its commit seals. */
export function sealedHeader(candidate: Candidate, seals: readonly Signature[]): Header {
  return { ...candidate.header, extraData: encodeExtraData({ ...candidate.extra, seals }) };
}
