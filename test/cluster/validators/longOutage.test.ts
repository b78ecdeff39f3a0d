import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { decodeLastSigned, encodeLastSigned } from "../../../src/ibft/lastSigned.ts";
import { forgottenAt } from "../../../src/ibft/lostVotes.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { openVoteLog } from "../../../src/storage/votes/voteLog.ts";
import { ibexHere } from "../../cli/program.ts";
import { itIfThorough } from "../../thorough.ts";
import { agreedBlocks, hashesOf, heightOf, reach } from "../harness/chainReading.ts";
import { type NodeProcess, pause, temporaryFolder, until } from "../harness/nodeProcess.ts";
import { type Member, prepareNetwork, type ValidatorNetwork } from "../harness/validatorNetwork.ts";

/** How long the chain stalls, with two of four validators; round 0 lasts one second. */
const OUTAGE_MS = 25_000;
/** Round of the next block when all restart at once. In the outage they came to the fifth; a round lasts twice as long as the one before. */
const LAST_ROUND = 5;

const networks: ValidatorNetwork[] = [];

/** One network for each test. They stall at the same time, because they only wait; the test that comes first waits for both. */
let stalled: Promise<readonly [ofAll: ValidatorNetwork, ofEach: ValidatorNetwork]> | undefined;

function stalledNetworks() {
  stalled ??= bothOf([aStalledNetwork([0, 2]), aStalledNetwork([0, 1])]);
  return stalled;
}

/** Waits for both before it throws, so that no network goes on behind a failed test. */
async function bothOf(
  made: [Promise<ValidatorNetwork>, Promise<ValidatorNetwork>],
): Promise<[ofAll: ValidatorNetwork, ofEach: ValidatorNetwork]> {
  await Promise.allSettled(made);
  return Promise.all(made);
}

afterAll(async () => {
  // One of them may have failed, while the other one goes on.
  await stalled?.catch(() => undefined);
  for (const network of networks) await network.stopAll();
});

itIfThorough(
  "four stalled validators that restart at once, two of them without their votes like Besu, agree again soon",
  async () => {
    const [network] = await stalledNetworks();
    await network.stopAll();
    for (const member of network.members.slice(2)) await forgetLikeBesu(member);
    const backAtMs = Date.now();
    const nodes = await network.startAll();
    const height = Math.max(...(await Promise.all(nodes.map(heightOf))));
    await reach(nodes, height + 2);
    const [next] = await agreedBlocks(nodes[0] as (typeof nodes)[number], height + 1, height + 1);
    console.log(`blocks again after ${Date.now() - backAtMs} ms, in round ${next?.round}`);
    expect(next?.round).toBeLessThanOrEqual(LAST_ROUND);
    await expectOneChain(network);
  },
);

itIfThorough(
  "'ibex validator forget-votes' lets stalled validators start in round 0, one after another",
  async () => {
    const [, network] = await stalledNetworks();
    const [first, second, third, fourth] = network.members as [Member, Member, Member, Member];
    const known = (await Promise.all([third, fourth].map(headOf))).join();
    for (const [member, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const args = [`--heads=${known}`, `--heads-from=${other.node?.httpUrl}`];
      const running = await forget(network, member, args);
      expect([running.exitCode, running.errors]).toEqual([
        2,
        expect.stringContaining("Another node is using"),
      ]);
      const stalledIn = await roundOf(member.node as NodeProcess);
      await member.node?.kill();
      const blind = await forget(network, member, args.slice(0, 1));
      expect([blind.exitCode, blind.errors]).toEqual([
        1,
        expect.stringContaining("its newest block is not given"),
      ]);
      const done = await forget(network, member, args);
      expect([done.exitCode, done.errors]).toEqual([0, ""]);
      const node = await network.start(member);
      // With one other validator it requests round 1 at once, and further ones as time passes, but not that in its vote log.
      expect(await roundOf(node)).toBeLessThan(stalledIn);
    }
    const nodes = [...(await Promise.all([third, fourth].map((member) => network.start(member))))];
    await reach(nodes, (await heightOf(nodes[0] as (typeof nodes)[number])) + 2);
    await expectOneChain(network);
  },
);

async function roundOf(node: NodeProcess): Promise<number> {
  const round = async () => (await node.rpc<{ round: string | null }>("ibft_status", [])).round ?? undefined;
  return Number(await until(round, "a round"));
}

/**
 * A network that produced blocks and then stalled with only the given validators running, between two blocks: in the middle of one, those
 * left may hold a block that is prepared, or that a stopped one lacks.
 */
async function aStalledNetwork(running: readonly number[]): Promise<ValidatorNetwork> {
  const network = await prepareNetwork({ validators: 4, requestTimeoutSeconds: 1 });
  networks.push(network);
  const { members } = network;
  const stopped = members.filter((_, index) => !running.includes(index));
  const left = running.flatMap((index) => members[index] ?? []);
  await network.startAll();
  for (let height = 3; ; height += 3) {
    await reach(nodesOf(members), height);
    await Promise.all(stopped.map(({ node }) => node?.kill()));
    await Promise.all(nodesOf(left).map(leaveRound0));
    if (await isBetweenBlocks(left, stopped)) break;
    await Promise.all(stopped.map((member) => network.start(member)));
  }
  await pause(OUTAGE_MS);
  return network;
}

/** Waits until no block of the height can be made any more. */
const leaveRound0 = (node: NodeProcess): Promise<true> =>
  until(async () => ((await roundOf(node)) > 0 ? true : undefined), "a later round");

const nodesOf = (members: readonly Member[]): readonly NodeProcess[] =>
  members.flatMap(({ node }) => node ?? []);

async function isBetweenBlocks(left: readonly Member[], stopped: readonly Member[]): Promise<boolean> {
  const heights = await Promise.all(nodesOf(left).map(heightOf));
  const heads = await Promise.all(stopped.map(headOf));
  const prepared = await Promise.all(left.map(hasPrepared));
  const [height] = heights;
  return (
    heights.every((each) => each === height) &&
    heads.every((head) => head.includes(`=${height}:`)) &&
    !prepared.some(Boolean)
  );
}

async function hasPrepared({ dataPath }: Member): Promise<boolean> {
  const copy = join(temporaryFolder(), "votes.log");
  copyFileSync(join(dataPath, "votes.log"), copy);
  const log = await openVoteLog(copy);
  const record = decodeLastSigned(expectDefined(log.read(), "a vote"));
  await log.close();
  return record.ok && record.value.prepared !== undefined;
}

/** Besu keeps no votes, and votes at once at the height that its votes of before belong to. */
async function forgetLikeBesu(member: Member): Promise<void> {
  const { dataPath } = member;
  const [, number] = /=(\d+):/.exec(await headOf(member)) ?? [];
  for (const name of ["votes.log", "votes.log.mark"]) rmSync(join(dataPath, name), { force: true });
  const log = await openVoteLog(join(dataPath, "votes.log"));
  await log.write(encodeLastSigned(forgottenAt(BigInt(expectDefined(number, "the head's number")) + 1n)));
  await log.close();
}

async function headOf({ dataPath, key }: Member): Promise<string> {
  const { output } = await ibexHere(["database", "info", `--data-path=${dataPath}`]);
  const [number, hash] = [/head number: (\d+)/, /head hash: (0x\w+)/].map((line) => line.exec(output)?.[1]);
  return `${toHex(key.address)}=${number}:${hash}`;
}

function forget({ genesisFile }: ValidatorNetwork, { dataPath }: Member, args: readonly string[]) {
  const options = [`--data-path=${dataPath}`, `--genesis-file=${genesisFile}`];
  return ibexHere(["validator", "forget-votes", ...options, ...args]);
}

async function expectOneChain({ members }: ValidatorNetwork): Promise<void> {
  const nodes = nodesOf(members);
  const height = Math.min(...(await Promise.all(nodes.map(heightOf))));
  const [one, ...others] = await Promise.all(nodes.map((node) => hashesOf(node, 1, height)));
  for (const other of others) expect(other).toEqual(one);
}
