import type { Address } from "../primitives/address.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { toKey } from "../primitives/byteKey.ts";
import { compareBytes, equalBytes } from "../primitives/hex.ts";
import type { NamedHeader } from "../types/block.ts";
import type { VoteTally } from "./validatorVotes.ts";

/** The block that the next one builds on, with the validators and outstanding votes after it. */
export interface Head extends NamedHeader {
  readonly tally: VoteTally;
}

/** The validators of a height and their order: the same on every honest node, since the parent's content decides it. */
export interface ValidatorSet {
  readonly height: bigint;
  /** Sorted. */
  readonly validators: readonly Address[];
  /** Coinbase of the parent. */
  readonly previousProposer: Address;
  readonly quorum: number;
  readonly prepareQuorum: number;
  readonly tolerableFaults: number;
}

export function validatorSetAfter(parent: Head): ValidatorSet {
  const { validators } = parent.tally;
  return {
    height: parent.header.number + 1n,
    validators,
    previousProposer: parent.header.coinbase,
    quorum: quorum(validators.length),
    prepareQuorum: prepareQuorum(validators.length),
    tolerableFaults: tolerableFaults(validators.length),
  };
}

export function isMember(validatorSet: ValidatorSet, address: Address): boolean {
  let keys = memberKeys.get(validatorSet.validators);
  if (keys === undefined) {
    keys = new Set(validatorSet.validators.map(toKey));
    memberKeys.set(validatorSet.validators, keys);
  }
  return keys.has(toKey(address));
}

/** Cached because a certificate of a hundred validators needs ten thousand look-ups. */
const memberKeys = new WeakMap<readonly Address[], ReadonlySet<string>>();

export function isProposer(validatorSet: ValidatorSet, round: number, address: Address): boolean {
  return equalBytes(proposerAt(validatorSet, round), address);
}

export function proposerAt({ validators, previousProposer }: ValidatorSet, round: number): Address {
  return proposerOf(validators, previousProposer, round);
}

/**
 * The proposer of a round (ibft2.md#proposer): the next of the sorted validators for every block and every round.
 * `previous` is the coinbase of the parent, which all honest nodes agree on; they may not agree on the round in which
 * the parent was sealed, so it is not used. After a `previous` that is no longer a validator, the next higher address
 * proposes.
 */
export function proposerOf(validators: readonly Address[], previous: Address, round: number): Address {
  assert(validators.length > 0, "a height has validators");
  const following = validators.findIndex((validator) => compareBytes(validator, previous) > 0);
  const atOrAfter = validators.findIndex((validator) => compareBytes(validator, previous) >= 0);
  const isValidator = atOrAfter >= 0 && atOrAfter !== following;
  const first = isValidator ? atOrAfter + 1 : Math.max(following, 0);
  return expectDefined(validators[(first + round) % validators.length], "the proposer");
}

/**
 * Smallest number of validators such that any two groups of that size share an honest one: ceil(2n / 3).
 * A prepared round needs one Prepare less, because the Proposal counts as the proposer's vote. (ibft2.md#quorum)
 */
export function quorum(validators: number): number {
  return Math.ceil((2 * validators) / 3);
}

/** Number of Prepares that, with the Proposal, make a round prepared. */
export function prepareQuorum(validators: number): number {
  return quorum(validators) - 1;
}

/** Number of validators that may be faulty: floor((n - 1) / 3). Any larger group includes an honest one. */
export function tolerableFaults(validators: number): number {
  return Math.floor((validators - 1) / 3);
}
