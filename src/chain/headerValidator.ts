import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { checkSealers } from "../ibft/sealRules.ts";
import type { Clock } from "../primitives/clock.ts";
import type { Hash } from "../primitives/hash.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { NamedHeader } from "../types/block.ts";
import { chainHash } from "../types/blockHash.ts";
import { decodeExtraData, type ExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import { type BlockErrorCode, notAfterHead } from "./blockError.ts";
import type { ChainWriter } from "./chainWriter.ts";
import { checkHeader } from "./headerRules.ts";
import type { RecoverSealers } from "./signerRecovery.ts";
import type { ValidatorSets } from "./validators.ts";

/** A header with its extra data decoded, and its chain hash. */
interface DecodedHeader {
  readonly header: Header;
  readonly extra: ExtraData;
  readonly hash: Hash;
}

export function decodeAndHash(header: Header): Result<DecodedHeader, "malformedExtraData"> {
  const extra = decodeExtraData(header.extraData);
  return extra.ok ? ok({ header, extra: extra.value, hash: chainHash(header, extra.value) }) : extra;
}

export interface HeaderValidatorParts {
  readonly spec: ChainSpec;
  readonly clock: Pick<Clock, "nowMs">;
  readonly writer: Pick<ChainWriter, "head">;
  readonly validators: ValidatorSets;
  readonly recoverSealers: RecoverSealers;
}

/** Validates headers on top of a parent, which is the head. */
export class HeaderValidator {
  private readonly parts: HeaderValidatorParts;

  constructor(parts: HeaderValidatorParts) {
    this.parts = parts;
  }

  /** Applies all header rules except the seals. */
  validate(decoded: DecodedHeader, parent: NamedHeader): Result<void, BlockErrorCode> {
    const { spec, validators, clock } = this.parts;
    return checkHeader(spec, parent, decoded, validators.after(parent).validators, clock.nowMs());
  }

  /** Applies all header rules, seals included. */
  async validateSealed(decoded: DecodedHeader, parent: NamedHeader): Promise<Result<void, BlockErrorCode>> {
    const checked = this.validate(decoded, parent);
    return checked.ok ? this.validateSeals(decoded, parent) : checked;
  }

  private async validateSeals(
    { header, extra }: DecodedHeader,
    parent: NamedHeader,
  ): Promise<Result<void, BlockErrorCode>> {
    const { validators, recoverSealers, writer } = this.parts;
    const set = validators.after(parent).validators;
    // With one seal more than there are validators, one is certainly invalid: no need to recover the rest.
    const seals = extra.seals.slice(0, set.length + 1);
    const sealers = await recoverSealers(header, { ...extra, seals });
    return writer.head === parent ? checkSealers(sealers, set) : notAfterHead(header, writer.head);
  }
}
