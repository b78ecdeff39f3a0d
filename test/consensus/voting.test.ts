import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/observability/logger.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { createHandClock } from "../builders/handClock.ts";
import { aGenesisHead, aSchedule } from "../builders/toyChain.ts";
import { headOfDisk, type Observed, settle, startToyNode, type ToyDisk, type ToyNode } from "./toyNode.ts";

const START_MS = 1_700_000_000_250;

interface Member {
  readonly node: ToyNode;
  readonly disk: ToyDisk;
  readonly observed: Observed;
  readonly told: string[];
  delivered: number;
}

/** Real engines over toy chains in a network without losses; non-validators follow. */
function aNetwork(count: number, { validators, epochLength }: { validators: number; epochLength: bigint }) {
  const clock = createHandClock(START_MS);
  const keys = Array.from({ length: count }, (_, index) => bigintToFixedBytes(BigInt(index + 1), 32));
  const addresses = keys.map(addressOfPrivateKey);
  const genesis = aGenesisHead(addresses.slice(0, validators), 1_700_000_000n);
  const members: Member[] = keys.map((privateKey) => {
    const disk: ToyDisk = { heads: [genesis], votes: undefined };
    const observed: Observed = { messages: [], commits: [] };
    const told: string[] = [];
    const info = (_: unknown, message: string): void => void told.push(message);
    const logger = { ...silentLogger, info, isEnabled: () => true };
    const schedule = aSchedule({ epochLength });
    const node = startToyNode({ privateKey, schedule, logger }, clock, disk, observed);
    return { node, disk, observed, told, delivered: 0 };
  });

  function carry(): boolean {
    let hasCarried = false;
    for (const from of members) {
      for (const message of from.observed.messages.slice(from.delivered)) {
        for (const to of members) if (to !== from) to.node.engine.receive(message);
        hasCarried = true;
      }
      from.delivered = from.observed.messages.length;
    }
    return hasCarried;
  }

  /** Gives a follower the blocks of the longest chain. */
  function follow(): void {
    const longest = members.reduce((a, b) => (b.disk.heads.length > a.disk.heads.length ? b : a)).disk.heads;
    for (const { disk, node } of members) {
      for (const head of longest.slice(disk.heads.length)) {
        disk.heads.push(head);
        node.engine.headAdvanced(head);
      }
    }
  }

  const at = (index: number): Member => {
    const member = members[index];
    if (member === undefined) throw new Error(`there is no node ${index}`);
    return member;
  };
  const network = {
    addresses: addresses.map(toHex),
    told: (index: number) => at(index).told,
    mode: (index: number) => at(index).node.engine.status().mode,
    get height() {
      return Number(headOfDisk(at(0).disk).header.number);
    },
    /** Indexes of the validators after the head, in the order of the keys. */
    get validators() {
      const now = headOfDisk(at(0).disk).tally.validators.map(toHex);
      return addresses.flatMap((address, index) => (now.includes(toHex(address)) ? [index] : []));
    },
    outstanding: () => headOfDisk(at(0).disk).tally.outstanding,
    propose(voters: readonly number[], index: number, kind: "add" | "drop") {
      const recipient = addresses[index];
      if (recipient === undefined) throw new Error(`there is no node ${index}`);
      for (const voter of voters) at(voter).node.engine.proposals.propose({ recipient, kind });
    },
    discard(voters: readonly number[], index: number) {
      const recipient = addresses[index];
      if (recipient === undefined) throw new Error(`there is no node ${index}`);
      for (const voter of voters) at(voter).node.engine.proposals.discard(recipient);
    },
    async untilBlock(number: number) {
      const deadlineMs = clock.nowMs() + (number - network.height + 5) * 4_000;
      while (network.height < number) {
        if (clock.nowMs() > deadlineMs) throw new Error(`stands at block ${network.height}`);
        await settle();
        while (carry()) await settle();
        follow();
        await settle();
        clock.advanceBy(50);
      }
    },
  };
  return network;
}

describe("validators that vote", () => {
  it("grow from one to four to seven and shrink to one again, through epoch boundaries", async () => {
    const network = aNetwork(7, { validators: 1, epochLength: 10n });
    const everyone = [0, 1, 2, 3, 4, 5, 6];
    for (const size of [2, 3, 4, 5, 6, 7]) {
      network.propose(network.validators, size - 1, "add");
      // A majority of validators has proposed; votes discarded by an epoch block are cast again in the next epoch.
      await network.untilBlock(network.height + 2 * size + 1);
      expect(network.validators).toEqual(everyone.slice(0, size));
      expect(network.mode(size - 1)).toBe("validating");
      network.discard(everyone, size - 1);
    }
    expect(network.height).toBeGreaterThan(50);
    for (const size of [6, 5, 4, 3, 2, 1]) {
      network.propose(network.validators.slice(0, -1), size, "drop");
      if (size === 1) network.propose([1], 1, "drop");
      await network.untilBlock(network.height + 2 * size + 3);
      expect(network.validators).toEqual(everyone.slice(0, size));
      expect(network.mode(size)).toBe("following");
      network.discard(everyone, size);
    }
    await network.untilBlock(network.height + 3);
  });

  it("lose the votes without a majority at an epoch block, and cast them again after it", async () => {
    const network = aNetwork(5, { validators: 4, epochLength: 10n });
    await network.untilBlock(4);
    network.propose([0, 1], 4, "add");
    await network.untilBlock(9);
    expect(network.outstanding()).toMatchObject([{ add: [{}, {}], drop: [] }]);
    await network.untilBlock(10);
    expect(network.outstanding()).toEqual([]);
    await network.untilBlock(15);
    expect(network.outstanding()).toMatchObject([{ add: [{}, {}], drop: [] }]);
    expect(network.validators).toEqual([0, 1, 2, 3]);
    network.propose([2], 4, "add");
    await network.untilBlock(20);
    expect(network.validators).toEqual([0, 1, 2, 3, 4]);
    const newcomer = network.addresses[4];
    expect(network.told(0)).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^vote to add ${newcomer}: 1 of 3 needed; votes without a majority expire at block 10, in \\d`,
        ),
      ),
    );
    expect(network.told(4)).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^this node \\(${newcomer}\\) is a validator from block \\d+ on; there are 5 now, quorum 4`,
        ),
      ),
    );
  });
});
