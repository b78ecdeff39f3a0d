import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Head } from "./input.ts";
import { proposerOf } from "./proposer.ts";
import { prepareQuorum, quorum, tolerableFaults } from "./quorum.ts";

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
  return equalBytes(proposerOf(validatorSet.validators, validatorSet.previousProposer, round), address);
}
