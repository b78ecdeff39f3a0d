import { describe, expect, it } from "vitest";
import type { IbftSchedule } from "../../src/chainspec/ibftParameters.ts";
import { checkSealers, recoverSealers } from "../../src/ibft/sealRules.ts";
import { proposerOf } from "../../src/ibft/validatorSet.ts";
import {
  chooseVote,
  isValidator,
  tallyAfter,
  tallyAfterEpoch,
  tallyOf,
  type VoteTally,
} from "../../src/ibft/validatorVotes.ts";
import type { Address } from "../../src/primitives/address.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { sealDigest } from "../../src/types/blockHash.ts";
import { type RecordedHeader, readRecordedHeaders } from "../builders/recordedHeaders.ts";
import { aCandidate, aGenesisHead, aSchedule, toyAddress, toyAddresses } from "../builders/toyChain.ts";
import { IS_THOROUGH } from "../thorough.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

interface Expected {
  readonly number: number;
  readonly validators: readonly string[];
  readonly sealSigners?: readonly string[];
  readonly committers?: readonly string[];
  readonly validatorsAfter?: readonly string[];
}

interface Network {
  readonly name: string;
  readonly chain: readonly string[];
  readonly epochLength: bigint;
  readonly blocks: number;
  readonly votes: number;
  readonly expected?: () => readonly Expected[];
}

const NETWORKS: readonly Network[] = [
  {
    name: "net1",
    chain: ["besu-ibft", "net1", "chain.rlp"],
    epochLength: 30_000n,
    blocks: 1057,
    votes: 1,
    expected: () => readVectorJson<Expected[]>("besu-ibft", "net1", "blocks.json"),
  },
  {
    name: "net2",
    chain: ["besu-ibft", "net2", "chain.rlp"],
    epochLength: 5n,
    blocks: 718,
    votes: 20,
    expected: () => readVectorJson<Expected[]>("besu-ibft", "net2", "blocks.json"),
  },
  { name: "net4", chain: ["besu-ibft", "net4", "chain.rlp"], epochLength: 30_000n, blocks: 100, votes: 0 },
  {
    name: "Prague",
    chain: ["besu-ibft", "prague-25.4.1", "staged", "chain.rlp"],
    epochLength: 30_000n,
    blocks: 60,
    votes: 0,
  },
  {
    name: "synthetic",
    chain: ["ibft2", "synthetic-chain", "chain.blocks"],
    epochLength: 10n,
    blocks: 33,
    votes: 10,
    expected: () =>
      readVectorJson<{ blocks: Expected[] }>("ibft2", "synthetic-chain", "expected.json").blocks,
  },
];

describeWithVectors("recorded chains", () => {
  it.each(NETWORKS)("have the validators, proposers and seals that follow from headers: $name", (network) => {
    const schedule = aSchedule({ epochLength: network.epochLength });
    const headers = readRecordedHeaders(...network.chain);
    const expected = new Map(network.expected?.().map((block) => [block.number, block]));
    expect(headers.length).toBeGreaterThanOrEqual(network.blocks);
    expect(headers.filter(({ extra }) => extra.vote !== undefined).length).toBeGreaterThanOrEqual(
      network.votes,
    );

    let tally: VoteTally | undefined;
    let parent: RecordedHeader | undefined;
    for (const block of headers) {
      if (tally === undefined || parent === undefined) {
        tally = tallyAfterEpoch(block, schedule);
      } else {
        expectAgreement(block, parent, tally.validators, expected.get(headers.indexOf(block)));
        tally = tallyAfter(tally, block, schedule);
        const after = expected.get(headers.indexOf(block))?.validatorsAfter;
        if (after !== undefined) expect(texts(tally.validators)).toEqual(after);
      }
      parent = block;
    }
  });
});

function expectAgreement(
  { header, extra }: RecordedHeader,
  parent: RecordedHeader,
  validators: readonly Address[],
  expected: Expected | undefined,
): void {
  const place = `block ${header.number}`;
  expect(texts(extra.validators), place).toEqual(texts(validators));
  if (expected !== undefined) expect(expected.validators, place).toEqual(texts(validators));
  // A block proposed again in a later round keeps the coinbase of the round in which it was built.
  const builders = Array.from({ length: extra.round + 1 }, (_, round) =>
    toHex(proposerOf(validators, parent.header.coinbase, round)),
  );
  expect(builders, place).toContain(toHex(header.coinbase));
  // Recovery takes most of the time.
  if (!IS_THOROUGH && header.number % 4n !== 0n) return;
  const sealers = recoverSealers(sealDigest(header, extra), extra.seals);
  expect(checkSealers(sealers, validators), place).toEqual({ ok: true, value: undefined });
  const signers = expected?.sealSigners ?? expected?.committers;
  if (signers !== undefined) expect(texts(sealers), place).toEqual(signers);
}

describe("votes on validators", () => {
  const [a, b, c, d, outsider] = toyAddresses(5) as [Address, Address, Address, Address, Address];
  const schedule = aSchedule({ epochLength: 10n });

  it("count for the majority of the set before the change", () => {
    const tally = vote(vote(tallyOf([a, b, c, d]), a, "drop", d), b, "drop", d);
    expect(isValidator(tally, d)).toBe(true);
    expect(isValidator(vote(tally, c, "drop", d), d)).toBe(false);
  });

  it("count once per voter, which may change its vote", () => {
    const twice = vote(vote(tallyOf([a, b, c]), a, "add", outsider), a, "add", outsider);
    expect(isValidator(twice, outsider)).toBe(false);
    const changed = vote(vote(twice, a, "drop", outsider), b, "add", outsider);
    expect(isValidator(changed, outsider)).toBe(false);
    expect(isValidator(vote(changed, c, "add", outsider), outsider)).toBe(true);
  });

  it("of a validator that was dropped are discarded", () => {
    const outstanding = vote(tallyOf([a, b, c]), c, "add", outsider);
    const dropped = vote(vote(outstanding, a, "drop", c), b, "drop", c);
    expect(texts(dropped.validators)).toEqual(texts([a, b]));
    expect(dropped.outstanding).toEqual([]);
  });

  it("are discarded at an epoch block, and one in that block does not count", () => {
    const before = vote(vote(tallyOf([a, b, c, d]), a, "drop", d), b, "drop", d);
    const after = tallyAfter(before, aBlock(10n, [a, b, c, d], c, "drop", d), schedule);
    expect(after).toEqual(tallyOf([a, b, c, d]));
  });

  it("start anew when a transition sets the validators, with the last vote before it applied", () => {
    const era = { parameters: { blockPeriodSeconds: 1, blockRewardWei: 0n } };
    const changing: IbftSchedule = {
      ...schedule,
      eras: [
        { fromBlock: 0n, ...era },
        { fromBlock: 5n, ...era, validators: [outsider] },
        { fromBlock: 11n, ...era, validators: [d, c] },
      ],
    };
    const before = vote(tallyOf([a, b, c]), b, "drop", c);
    const plain = tallyAfter(before, aBlock(4n, [a, b, c], a), changing);
    expect(plain).toEqual(tallyOf([outsider]));
    const voted = tallyAfter(before, aBlock(4n, [a, b, c], a, "add", d), changing);
    expect(texts(voted.validators)).toEqual(texts([d, outsider]));
    const epoch = tallyAfter(before, aBlock(10n, [a, b, c], a, "add", a), changing);
    expect(texts(epoch.validators)).toEqual(texts([c, d]));
    expect(epoch.outstanding).toEqual([]);
  });

  it("are cast in rotation while they would still change something", () => {
    const proposals = [
      { recipient: outsider, kind: "add" },
      { recipient: c, kind: "drop" },
      { recipient: b, kind: "add" },
    ] as const;
    const fresh = tallyOf([a, b, c]);
    expect([1, 2, 3].map((turn) => chooseVote(fresh, a, proposals, turn))).toEqual([
      proposals[1],
      proposals[0],
      proposals[1],
    ]);
    const cast = vote(fresh, a, "drop", c);
    expect([1, 2].map((turn) => chooseVote(cast, a, proposals, turn))).toEqual([proposals[0], proposals[0]]);
    const regretted = [{ recipient: c, kind: "add" }] as const;
    expect(chooseVote(fresh, a, regretted, 1)).toBeUndefined();
    expect(chooseVote(cast, a, regretted, 1)).toEqual(regretted[0]);
  });

  function vote(tally: VoteTally, voter: Address, kind: "add" | "drop", recipient: Address): VoteTally {
    return tallyAfter(tally, aBlock(3n, tally.validators, voter, kind, recipient), schedule);
  }

  function aBlock(
    number: bigint,
    validators: readonly Address[],
    coinbase: Address,
    kind?: "add" | "drop",
    recipient: Address = toyAddress(0),
  ): Pick<RecordedHeader, "header" | "extra"> {
    const order = { coinbase, ...(kind !== undefined && { vote: { recipient, kind } }) };
    const { header, extra } = aCandidate(aGenesisHead(validators), order);
    return { header: { ...header, number }, extra };
  }
});

function texts(addresses: readonly (Address | undefined)[]): string[] {
  return addresses.map((address) => (address === undefined ? "nobody" : toHex(address)));
}
