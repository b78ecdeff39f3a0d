import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { createYieldPolicy } from "../../execution/yieldPolicy.ts";
import { checkSealers } from "../../ibft/sealRules.ts";
import { tallyAfter, type VoteTally } from "../../ibft/validatorVotes.ts";
import type { Clock } from "../../primitives/clock.ts";
import { type RecoveryItem, SignedDigest } from "../../primitives/recoveryBatch.ts";
import type { CodedError, Result } from "../../primitives/result.ts";
import type { NamedHeader } from "../../types/block.ts";
import { sealDigest } from "../../types/blockHash.ts";
import type { Header } from "../../types/header.ts";
import type { BlockErrorCode } from "../blockError.ts";
import { checkHeader } from "../headerRules.ts";
import { decodeAndHash } from "../headerValidator.ts";
import type { RecoverSigners } from "../signerRecovery.ts";

/** A header that passed every rule on top of the checked header before it, seals included. Only a header run creates one. */
export interface CheckedHeader extends NamedHeader {
  readonly __brand: "checked header";
  /** The validator set after this block, and the outstanding votes. */
  readonly tally: VoteTally;
}

interface CheckedHeaders {
  readonly checked: readonly CheckedHeader[];
  /** Why the header after these is invalid, if it is. */
  readonly error?: CodedError<BlockErrorCode>;
}

interface HeaderRunParts {
  readonly spec: ChainSpec;
  readonly clock: Pick<Clock, "nowMs">;
  readonly recoverSigners: RecoverSigners;
}

/**
 * Validates headers ahead of their bodies, from a block of the chain on: rules and validator set follow from headers alone
 * (ibft2.md#header-rules, ibft2.md#validator-set). A header with a quorum of seals needs no trust in the peer that sent it.
 */
export class HeaderRun {
  private readonly parts: HeaderRunParts;
  private newest: NamedHeader & { readonly tally: VoteTally };

  /** Begins a run after `from`, a block of the chain with the tally after it. */
  constructor(from: NamedHeader & { readonly tally: VoteTally }, parts: HeaderRunParts) {
    this.parts = parts;
    this.newest = from;
  }

  /** The newest header that passed; at first the block that the run begins after. */
  get last(): NamedHeader {
    return this.newest;
  }

  /**
   * Validates the headers that follow `last`, in order; the seals of all are recovered in one batch. Those before the
   * first invalid one pass. One call at a time.
   */
  async extend(headers: readonly Header[]): Promise<CheckedHeaders> {
    const yieldPolicy = createYieldPolicy(this.parts.clock);
    const awaiting: SealedHeader[] = [];
    let parent = this.newest;
    let error: CodedError<BlockErrorCode> | undefined;
    for (const header of headers) {
      const sealed = checkAllButSeals(this.parts, parent, header);
      if (!sealed.ok) {
        error = sealed.error;
        break;
      }
      awaiting.push(sealed.value);
      parent = sealed.value.header;
      if (yieldPolicy.isDue()) await yieldPolicy.yield();
    }
    const passed = await checkSeals(this.parts, awaiting);
    this.newest = passed.checked.at(-1) ?? this.newest;
    const first = passed.error ?? error;
    return first === undefined ? passed : { ...passed, error: first };
  }
}

/** A header that passed all rules except the one on seals. */
interface SealedHeader {
  readonly header: CheckedHeader;
  /** The validators that may have sealed it. */
  readonly validators: VoteTally["validators"];
  readonly seals: readonly RecoveryItem[];
}

function checkAllButSeals(
  { spec, clock }: HeaderRunParts,
  parent: NamedHeader & { readonly tally: VoteTally },
  header: Header,
): Result<SealedHeader, BlockErrorCode> {
  const decoded = decodeAndHash(header);
  if (!decoded.ok) return decoded;
  const { extra, hash } = decoded.value;
  const { validators } = parent.tally;
  const checked = checkHeader(spec, parent, decoded.value, validators, clock.nowMs());
  if (!checked.ok) return checked;
  const digest = sealDigest(header, extra);
  // With one seal more than there are validators, one is certainly invalid: no need to recover the rest.
  const seals = extra.seals
    .slice(0, validators.length + 1)
    .map((signature) => new SignedDigest(digest, signature));
  const tally = tallyAfter(parent.tally, { header, extra }, spec.ibft);
  const totalDifficulty = parent.totalDifficulty + header.difficulty;
  const named = { header, hash, totalDifficulty, tally };
  return { ok: true, value: { header: named as CheckedHeader, validators, seals } };
}

async function checkSeals(
  { recoverSigners }: HeaderRunParts,
  headers: readonly SealedHeader[],
): Promise<CheckedHeaders> {
  const sealers = await recoverSigners(headers.flatMap(({ seals }) => seals));
  const checked: CheckedHeader[] = [];
  let at = 0;
  for (const { header, validators, seals } of headers) {
    const result = checkSealers(sealers.slice(at, at + seals.length), validators);
    if (!result.ok) return { checked, error: result.error };
    at += seals.length;
    checked.push(header);
  }
  return { checked };
}
