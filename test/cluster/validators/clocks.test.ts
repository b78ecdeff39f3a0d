import { expect, onTestFinished } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { itIfThorough } from "../../thorough.ts";
import { agreedBlocks, heightOf, reach, surprises } from "../harness/chainReading.ts";
import { logOf, type NodeProcess, until } from "../harness/nodeProcess.ts";
import { shiftedClock } from "../harness/shiftedClock.ts";
import { type Member, prepareNetwork } from "../harness/validatorNetwork.ts";

/** More than a busy machine delays a proposal, which is no longer in the future then. */
const SHIFT_MS = 10_000;

/**
 * All validators accept half a second (ibft2.md#header-rules, rule 4). A validator whose clock is further ahead loses
 * each of its rounds: it proposes as soon as the last block is there, with a timestamp in the others' future, so they
 * refuse that block and agree on another in round 1. It still seals the blocks of others, so the chain goes on.
 */
itIfThorough(
  "clocks half a second apart cost no round; one ten seconds ahead loses its proposals, and is named by all",
  async () => {
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 2 });
    onTestFinished(network.stopAll);
    const [first, second, third, last] = network.members;
    if (first === undefined || second === undefined || third === undefined || last === undefined)
      throw new Error("there are four");
    const right = [first, second, third];
    const address = toHex(last.key.address);
    const nodes = await Promise.all([
      ...right.map((member) => network.start(member)),
      network.start(last, shiftedClock(500)),
    ]);
    const [observer] = nodes as [NodeProcess];
    // The first blocks belong to the start.
    await reach(nodes, 2);
    const startHeight = await heightOf(observer);
    await reach(nodes, startHeight + 8);
    expect(roundsOf(await agreedBlocks(observer, startHeight, startHeight + 8))).toEqual(
      Array.from({ length: 9 }, () => 0),
    );
    for (const node of nodes) expect(clockWarnings(node)).toEqual([]);

    await last.node?.stop();
    const shifted = await network.start(last, shiftedClock(SHIFT_MS));
    const shiftedAt = await heightOf(observer);
    for (const { node } of right) {
      await until(async () => warningOf(node as NodeProcess, `the clock of ${address}`), "a warning");
      expect(warningOf(node as NodeProcess, `the clock of ${address}`)).toMatch(
        new RegExp(
          `^the clock of ${address} is at least ([2-9]\\.\\d|10\\.0) s ahead of this machine's: its proposals are refused while their timestamps are in the future`,
        ),
      );
    }
    const own = "this machine's clock is";
    await until(async () => warningOf(shifted, own), "a warning of the one that differs");
    expect(warningOf(shifted, own)).toMatch(
      /^the proposals of [23] of the 3 other validators arrive at least 1\d\.\d s after their timestamps: this machine's clock is 1\d\.\d s ahead of theirs, or/,
    );
    const blocks = await agreedBlocks(observer, shiftedAt + 1, await heightOf(observer));
    expect(surprises(blocks, [address])).toEqual([]);
    expect(blocks.filter(({ sealers }) => sealers.includes(address)).length).toBeGreaterThan(0);
    expect(blocks.map(({ proposer }) => proposer)).not.toContain(address);
  },
);

/** It refuses the others' proposals as too early; they go on without it, except when it is the proposer. */
itIfThorough("one ten seconds behind loses its proposals, follows late, and reports it itself", async () => {
  const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 2 });
  onTestFinished(network.stopAll);
  const [last, ...right] = [...network.members].reverse() as [Member, ...Member[]];
  const address = toHex(last.key.address);
  const nodes = await Promise.all(right.map((member) => network.start(member)));
  const [observer] = nodes as [NodeProcess];
  const late = await network.start(last, shiftedClock(-SHIFT_MS));
  await reach(nodes, 2);
  const startHeight = await heightOf(observer);
  const own = "this machine's clock is";
  await until(async () => warningOf(late, own), "a warning of the one that differs");
  // Delays on a busy host reduce the difference that the proposals prove.
  expect(warningOf(late, own)).toMatch(
    /^this machine's clock is at least ([1-9]\.\d|10\.0) s behind the clocks of [23] of the 3 other validators/,
  );
  await reach([late], startHeight + 8);
  const blocks = await agreedBlocks(observer, startHeight, startHeight + 8);
  expect(surprises(blocks, [address])).toEqual([]);
  expect(blocks.map(({ proposer }) => proposer)).not.toContain(address);
});

/** It follows as soon as two others have signed the new time, instead of after a minute. */
itIfThorough(
  "two validators of four whose clocks are 30 s behind take part again as soon as these are set right",
  async () => {
    const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 2 });
    onTestFinished(network.stopAll);
    const [first, second, ...late] = network.members as [Member, Member, ...Member[]];
    const right = await Promise.all([network.start(first), network.start(second)]);
    const behind = await Promise.all(late.map((member) => network.start(member, shiftedClock(-30_000))));
    for (const node of behind) {
      await until(
        async () => logOf(node).some(({ message }) => message === "a proposed block is invalid"),
        "a refused proposal",
      );
      node.child.kill("SIGUSR2");
    }
    for (const node of behind) {
      const said = "other validators sign times that agree with it";
      await until(async () => warningOf(node, said), "a clock that follows");
      expect(warningOf(node, "has stayed")).toBeUndefined();
    }
    await reach([...right, ...behind], 4);
  },
);

function roundsOf(blocks: readonly { readonly round: number }[]): readonly number[] {
  return blocks.map(({ round }) => round);
}

function clockWarnings(node: NodeProcess): readonly string[] {
  return logOf(node)
    .filter(({ level, message }) => level === "WARN" && message.includes("clock"))
    .map(({ message }) => message);
}

function warningOf(node: NodeProcess, text: string): string | undefined {
  return clockWarnings(node).find((message) => message.includes(text));
}
