import type { IbftSchedule } from "../chainspec/ibftParameters.ts";
import type { Address } from "../primitives/address.ts";
import { assert } from "../primitives/assert.ts";
import { compareBytes, equalBytes, includesBytes } from "../primitives/hex.ts";
import type { ExtraData, ValidatorVote } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";

/**
 * The validator set, derived from headers alone (ibft2.md#validator-set). A tally is the state after a block: the set
 * that decides the next block, and the votes that have not reached a majority yet.
 */
export interface VoteTally {
  /** Sorted, without duplicates. */
  readonly validators: readonly Address[];
  readonly outstanding: readonly OutstandingVotes[];
}

/** Votes on one address; a voter is on at most one side. */
export interface OutstandingVotes {
  readonly recipient: Address;
  readonly add: readonly Address[];
  readonly drop: readonly Address[];
}

/** A header with its extra data decoded. */
interface VotingHeader {
  readonly header: Header;
  readonly extra: ExtraData;
}

/** True for blocks at which all outstanding votes are discarded; genesis is one. */
export function isEpochBlock(schedule: IbftSchedule, number: bigint): boolean {
  return number % schedule.epochLength === 0n;
}

/** The tally after an epoch block, independent of earlier blocks; a vote in the epoch block itself does not count. */
export function tallyAfterEpoch(block: VotingHeader, schedule: IbftSchedule): VoteTally {
  assert(isEpochBlock(schedule, block.header.number), "a tally starts at an epoch block");
  return tallyOf(overrideFor(schedule, block.header.number + 1n) ?? block.extra.validators);
}

/** The tally after `block`, given the one after its parent. */
export function tallyAfter(before: VoteTally, block: VotingHeader, schedule: IbftSchedule): VoteTally {
  const { header, extra } = block;
  if (isEpochBlock(schedule, header.number)) return tallyAfterEpoch(block, schedule);
  const override = overrideFor(schedule, header.number + 1n);
  const start = override === undefined ? before : tallyOf(override);
  return extra.vote === undefined ? start : withVote(start, header.coinbase, extra.vote);
}

/** A tally without outstanding votes. */
export function tallyOf(validators: readonly Address[]): VoteTally {
  const sorted = [...validators].sort(compareBytes);
  return {
    validators: sorted.filter((validator, index) => !isSame(validator, sorted[index - 1])),
    outstanding: [],
  };
}

export function isValidator(tally: VoteTally, address: Address): boolean {
  return includesBytes(tally.validators, address);
}

/**
 * The vote that `self` puts into the block it builds. Cycles through those of the operator's proposals that would still
 * change something; `blocksBuilt` counts the blocks built so far.
 */
export function chooseVote(
  tally: VoteTally,
  self: Address,
  proposals: readonly ValidatorVote[],
  blocksBuilt: number,
): ValidatorVote | undefined {
  const effective = proposals.filter((proposal) => isEffective(tally, self, proposal));
  return effective.length === 0 ? undefined : effective[blocksBuilt % effective.length];
}

/** The validators that a transition sets for exactly block `number`. */
function overrideFor(schedule: IbftSchedule, number: bigint): readonly Address[] | undefined {
  return schedule.eras.find(({ fromBlock }) => fromBlock === number)?.validators;
}

function withVote(tally: VoteTally, voter: Address, { recipient, kind }: ValidatorVote): VoteTally {
  const votes = votesOn(tally, recipient);
  const others = tally.outstanding.filter((entry) => entry !== votes);
  const add = kind === "add" ? including(votes.add, voter) : without(votes.add, voter);
  const drop = kind === "drop" ? including(votes.drop, voter) : without(votes.drop, voter);
  const majority = Math.floor(tally.validators.length / 2) + 1;
  if (add.length >= majority) {
    return { validators: tallyOf([...tally.validators, recipient]).validators, outstanding: others };
  }
  if (drop.length >= majority) {
    return {
      validators: without(tally.validators, recipient),
      outstanding: others
        .map((entry) => ({
          ...entry,
          add: without(entry.add, recipient),
          drop: without(entry.drop, recipient),
        }))
        .filter((entry) => entry.add.length + entry.drop.length > 0),
    };
  }
  return { ...tally, outstanding: [...others, { recipient, add, drop }] };
}

function isEffective(tally: VoteTally, self: Address, { recipient, kind }: ValidatorVote): boolean {
  const { add, drop } = votesOn(tally, recipient);
  const isMember = includesBytes(tally.validators, recipient);
  if (kind === "drop") return includesBytes(add, self) || (isMember && !includesBytes(drop, self));
  return includesBytes(drop, self) || (!isMember && !includesBytes(add, self));
}

function votesOn(tally: VoteTally, recipient: Address): OutstandingVotes {
  const known = tally.outstanding.find((entry) => isSame(entry.recipient, recipient));
  return known ?? { recipient, add: [], drop: [] };
}

function including(addresses: readonly Address[], added: Address): readonly Address[] {
  return includesBytes(addresses, added) ? addresses : [...addresses, added];
}

function without(addresses: readonly Address[], removed: Address): readonly Address[] {
  return addresses.filter((address) => !isSame(address, removed));
}

function isSame(a: Address, b: Address | undefined): boolean {
  return b !== undefined && equalBytes(a, b);
}
