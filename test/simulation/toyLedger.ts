import type { IbftSchedule } from "../../src/chainspec/ibftParameters.ts";
import type { Candidate } from "../../src/ibft/candidate.ts";
import { checkSealers } from "../../src/ibft/sealRules.ts";
import { type Head, tolerableFaults } from "../../src/ibft/validatorSet.ts";
import { isValidator } from "../../src/ibft/validatorVotes.ts";
import type { Address } from "../../src/primitives/address.ts";
import { equalBytes } from "../../src/primitives/hex.ts";
import type { Signature } from "../../src/primitives/secp256k1.ts";
import type { ValidatorVote } from "../../src/types/extraData.ts";
import { headOf, indexOfAddress } from "../builders/toyChain.ts";
import { signerOfToken } from "./wire.ts";

/** A block in a node's chain. */
export interface SealedBlock {
  readonly candidate: Candidate;
  readonly seals: readonly Signature[];
  /** The head that it makes. */
  readonly head: Head;
}

export function sealBlock(
  parent: Head,
  candidate: Candidate,
  seals: readonly Signature[],
  schedule: IbftSchedule,
): SealedBlock {
  const head = headOf(parent, candidate, schedule);
  sealedRounds.set(head, candidate.extra.round);
  return { candidate, seals, head };
}

/** The round in which this node's head was sealed; other nodes may have it from another round. */
export function sealedRoundOf(head: Head): number {
  return sealedRounds.get(head) ?? 0;
}

const sealedRounds = new WeakMap<Head, number>();

/** Stands for execution and header rules. A block that uses more gas than its limit represents all invalid blocks. */
export function isSound(parent: Head, { header, extra }: Candidate): boolean {
  const { validators } = parent.tally;
  return (
    equalBytes(header.parentHash, parent.hash) &&
    header.number === parent.header.number + 1n &&
    header.timestamp > parent.header.timestamp &&
    header.gasUsed <= header.gasLimit &&
    isValidator(parent.tally, header.coinbase) &&
    extra.validators.length === validators.length &&
    extra.validators.every((validator, index) => equalBytes(validator, validators[index] ?? validator))
  );
}

/**
 * The timestamp rule, with the tolerance of the header rules (ibft2.md#header-rules, rule 4).
 */
export function isOnTime({ header }: Candidate, nowMs: number): boolean {
  return header.timestamp <= BigInt(Math.floor(nowMs / 1000)) + 1n;
}

/** Import rules for blocks of others: valid, and sealed by a quorum. */
export function isImportable(parent: Head, { candidate, seals }: SealedBlock): boolean {
  if (!isSound(parent, candidate)) return false;
  const sealers = seals.map((seal) => signerOfToken(seal, candidate.digest));
  return checkSealers(sealers, parent.tally.validators).ok;
}

const FEWEST_VALIDATORS = 3;

/**
 * The validator vote in a block on `parent`: all cast the same for a while, or no vote would get a majority. Never one
 * that could leave more Byzantine validators in the set than it tolerates.
 */
export function voteAfter(
  { header, tally }: Head,
  addresses: readonly Address[],
  byzantine: readonly Address[],
  seed: number,
): ValidatorVote | undefined {
  const recipient = addresses[(seed + Number(header.number / 8n)) % addresses.length];
  if (recipient === undefined) return undefined;
  const isMember = isValidator(tally, recipient);
  const after = isMember
    ? tally.validators.filter((validator) => !equalBytes(validator, recipient))
    : [...tally.validators, recipient];
  const byzantineAfter = after.filter((validator) => indexOfAddress(byzantine, validator) >= 0).length;
  if (after.length < FEWEST_VALIDATORS || byzantineAfter > tolerableFaults(after.length)) return undefined;
  return { recipient, kind: isMember ? "drop" : "add" };
}
