import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { forkAt, isAtLeast } from "../chainspec/forks.ts";
import { parametersAt } from "../chainspec/ibftParameters.ts";
import type { Address } from "../primitives/address.ts";
import { EMPTY_LIST_HASH, hashFromHex } from "../primitives/hash.ts";
import { compareBytes, equalBytes, includesBytes, toHex } from "../primitives/hex.ts";
import { err, ok, type Result } from "../primitives/result.ts";
import type { NamedHeader } from "../types/block.ts";
import type { ExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";

/** The mixHash of every IBFT 2.0 header. */
export const IBFT_MIX_HASH = hashFromHex(
  "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365",
);

const GAS_LIMIT_MINIMUM = 5000n;
const GAS_LIMIT_MAXIMUM = 2n ** 63n - 1n;
/** A child's gas limit lies strictly within parent / 1024 of the parent's. */
const GAS_LIMIT_BOUND_DIVISOR = 1024n;
/** Maximum that a header's timestamp may be ahead of the local clock. */
const FUTURE_BOUND_SECONDS = 1n;

export type HeaderErrorCode =
  | "wrongParent"
  | "wrongNumber"
  | "gasUsedAboveLimit"
  | "gasLimitOutOfBounds"
  | "gasLimitJump"
  | "baseFeeBeforeLondon"
  | "baseFeeMissing"
  | "timestampInFuture"
  | "timestampTooEarly"
  | "wrongMixHash"
  | "ommersNotEmpty"
  | "wrongDifficulty"
  | "wrongNonce"
  | "wrongValidators"
  | "coinbaseNotValidator";

/** A header with its extra data decoded, which rules 10 and later need. */
interface UnvalidatedHeader {
  readonly header: Header;
  readonly extra: ExtraData;
}

/**
 * Checks rules 1 to 11 of ibft2.md#header-rules, in that order: all except the commit seals, so that it applies to proposals
 * too. `validators` is the sorted set after the parent. No rule at this level checks the value of the base fee.
 */
export function checkHeader(
  spec: ChainSpec,
  parent: NamedHeader,
  { header, extra }: UnvalidatedHeader,
  validators: readonly Address[],
  nowMs: number,
): Result<void, HeaderErrorCode> {
  return (
    againstParent(spec, parent, header) ??
    againstClock(spec, parent, header, nowMs) ??
    constants(header) ??
    againstValidators(header, extra, validators) ??
    ok(undefined)
  );
}

type HeaderResult = Result<void, HeaderErrorCode> | undefined;

/** Rules 1 to 4, common to all consensus protocols: parent, number, gas. Undefined when all hold. */
export function againstParent(spec: ChainSpec, parent: NamedHeader, header: Header): HeaderResult {
  if (!equalBytes(header.parentHash, parent.hash)) {
    return headerError("wrongParent", `parent is ${toHex(header.parentHash)}, not ${toHex(parent.hash)}`);
  }
  if (header.number !== parent.header.number + 1n) {
    return headerError("wrongNumber", `number ${header.number} does not follow ${parent.header.number}`);
  }
  if (header.gasUsed > header.gasLimit) {
    return headerError(
      "gasUsedAboveLimit",
      `gas used ${header.gasUsed} exceeds the limit ${header.gasLimit}`,
    );
  }
  return gasLimit(spec, parent.header, header);
}

function gasLimit(spec: ChainSpec, parent: Header, header: Header): HeaderResult {
  if (header.gasLimit < GAS_LIMIT_MINIMUM || header.gasLimit > GAS_LIMIT_MAXIMUM) {
    return headerError("gasLimitOutOfBounds", `gas limit ${header.gasLimit} is out of bounds`);
  }
  const hasBaseFee = isLondon(spec, header.number, header.timestamp);
  if (!hasBaseFee && header.baseFeePerGas !== undefined) {
    return headerError("baseFeeBeforeLondon", "a base fee before London");
  }
  if (hasBaseFee && header.baseFeePerGas === undefined)
    return headerError("baseFeeMissing", "no base fee under London");
  const isActivation = hasBaseFee && !isLondon(spec, parent.number, parent.timestamp);
  const parentLimit = isActivation ? parent.gasLimit * 2n : parent.gasLimit;
  const difference =
    header.gasLimit > parentLimit ? header.gasLimit - parentLimit : parentLimit - header.gasLimit;
  if (difference >= parentLimit / GAS_LIMIT_BOUND_DIVISOR) {
    return headerError(
      "gasLimitJump",
      `gas limit ${header.gasLimit} is too far from the parent's ${parentLimit}`,
    );
  }
  return undefined;
}

function againstClock(spec: ChainSpec, parent: NamedHeader, header: Header, nowMs: number): HeaderResult {
  const latest = BigInt(Math.floor(nowMs / 1000)) + FUTURE_BOUND_SECONDS;
  if (header.timestamp > latest) {
    return headerError(
      "timestampInFuture",
      `timestamp ${header.timestamp} is ahead of our clock (${latest} at most)`,
    );
  }
  const earliest =
    parent.header.timestamp + BigInt(parametersAt(spec.ibft, header.number).blockPeriodSeconds);
  if (header.timestamp < earliest) {
    return headerError("timestampTooEarly", `timestamp ${header.timestamp} is before ${earliest}`);
  }
  return undefined;
}

function constants(header: Header): HeaderResult {
  if (!equalBytes(header.mixHash, IBFT_MIX_HASH))
    return headerError("wrongMixHash", `mixHash ${toHex(header.mixHash)}`);
  if (!equalBytes(header.ommersHash, EMPTY_LIST_HASH))
    return headerError("ommersNotEmpty", "an IBFT block has no ommers");
  if (header.difficulty !== 1n)
    return headerError("wrongDifficulty", `difficulty ${header.difficulty} is not 1`);
  if (header.nonce.some((byte) => byte !== 0))
    return headerError("wrongNonce", `nonce ${toHex(header.nonce)} is not 0`);
  return undefined;
}

function againstValidators(header: Header, extra: ExtraData, validators: readonly Address[]): HeaderResult {
  const isSorted = extra.validators.every((validator, index) => {
    const before = extra.validators[index - 1];
    return before === undefined || compareBytes(before, validator) < 0;
  });
  const isEqual =
    extra.validators.length === validators.length &&
    validators.every((validator, index) =>
      equalBytes(validator, extra.validators[index] ?? validator.subarray(1)),
    );
  if (!isSorted || !isEqual) {
    const [listed, expected] = [extra.validators, validators].map((list) => list.map(toHex).join(", "));
    return headerError("wrongValidators", `lists the validators ${listed}; they are ${expected}`);
  }
  if (!includesBytes(validators, header.coinbase)) {
    return headerError("coinbaseNotValidator", `the builder ${toHex(header.coinbase)} is not a validator`);
  }
  return undefined;
}

function isLondon(spec: ChainSpec, number: bigint, timestamp: bigint): boolean {
  return isAtLeast(forkAt(spec.forks, number, timestamp), "london");
}

function headerError(code: HeaderErrorCode, message: string): Result<void, HeaderErrorCode> {
  return err({ code, fault: "peer", message });
}
