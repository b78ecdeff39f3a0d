import { expect, onTestFinished } from "vitest";
import { quorum } from "../../../src/ibft/validatorSet.ts";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { TEST_HANG_MS } from "../../hang.ts";
import { itIfThorough } from "../../thorough.ts";
import { agreedBlocks, heightOf, reach } from "../harness/chainReading.ts";
import { logOf, type NodeProcess, until } from "../harness/nodeProcess.ts";
import { prepareNetwork } from "../harness/validatorNetwork.ts";

/** Two in the daily run, seven in the long one (`npm run test:long`). */
const MOST = Number(process.env["IBEX_MOST_VALIDATORS"] ?? 2);
const EPOCH = 10 * MOST;

/** The members of ibft_status that these tests read. */
interface Status {
  readonly mode: string;
  readonly validators: readonly { readonly address: Hex }[];
  readonly validatorVotes: {
    readonly expireAtBlock: Hex;
    readonly outstanding: readonly { readonly address: Hex; readonly drop: readonly Hex[] }[];
  };
}

itIfThorough(
  `nodes vote each other in, from 1 to ${MOST} validators, and out again; an epoch block clears votes without a majority`,
  { timeout: TEST_HANG_MS + MOST * 60_000 },
  async () => {
    const network = await prepareNetwork({ validators: 1, followers: MOST - 1, epochLength: EPOCH });
    onTestFinished(network.stopAll);
    const nodes = await network.startAll();
    const addresses = network.members.map(({ key }) => toHex(key.address));
    const [first] = nodes as [NodeProcess];
    const last = addresses.length - 1;

    /** Makes each of `voters` vote. */
    async function vote(voters: readonly NodeProcess[], index: number, isWanted: boolean): Promise<void> {
      for (const voter of voters)
        expect(await voter.rpc("ibft_proposeValidatorVote", [addresses[index], isWanted])).toBe(true);
    }

    for (let index = 1; index < MOST; index++) {
      await vote(nodes.slice(0, index), index, true);
      await validatorsBecome(nodes, addresses.slice(0, index + 1));
    }

    // One vote short of a majority, then discarded: votes in blocks stay until the epoch block.
    const votes = Math.floor(MOST / 2);
    await vote(nodes.slice(0, votes), last, false);
    const { expireAtBlock } = await until(async () => {
      const { validatorVotes } = await statusOf(first);
      const drop = validatorVotes.outstanding.find(({ address }) => address === addresses[last])?.drop;
      return drop?.length === votes ? validatorVotes : undefined;
    }, "every vote but the last");
    for (const node of nodes.slice(0, votes)) await node.rpc("ibft_discardValidatorVote", [addresses[last]]);
    await reach(nodes, Number(expireAtBlock) + 1);
    for (const node of nodes) {
      const { validators, validatorVotes } = await statusOf(node);
      expect(validators.length).toBe(MOST);
      expect(validatorVotes.outstanding).toEqual([]);
    }

    for (let index = last; index >= 1; index--) {
      await vote(nodes.slice(0, index + 1), index, false);
      await validatorsBecome(nodes, addresses.slice(0, index));
    }

    const height = (await heightOf(first)) + 2;
    await reach(nodes, height);
    const blocks = await agreedBlocks(first, 1, height);
    for (const { extra, sealers } of blocks) {
      const validators = extra.validators.map(toHex);
      expect(validators).toEqual(expect.arrayContaining([...sealers]));
      expect(new Set(sealers).size).toBeGreaterThanOrEqual(quorum(validators.length));
    }
    for (const [index, node] of nodes.entries()) {
      const address = addresses[index] as Hex;
      const hasTakenPart = blocks.some(({ proposer, sealers }) => [proposer, ...sealers].includes(address));
      expect(hasTakenPart).toBe(true);
      expect((await statusOf(node)).mode).toBe(index === 0 ? "validating" : "following");
      expect(changesOf(node, address)).toEqual(
        index === 0
          ? []
          : [expect.stringContaining("is a validator"), expect.stringContaining("is no longer a validator")],
      );
    }
  },
);

function statusOf(node: NodeProcess): Promise<Status> {
  return node.rpc<Status>("ibft_status");
}

/** Waits until all nodes have exactly these validators for the next block. */
async function validatorsBecome(nodes: readonly NodeProcess[], expected: readonly Hex[]): Promise<void> {
  const sorted = [...expected].sort().join();
  for (const node of nodes) {
    await until(async () => {
      const { validators } = await statusOf(node);
      return validators.map(({ address }) => address).join() === sorted ? true : undefined;
    }, `${expected.length} validators`);
  }
}

/** A node's log messages about its own changes of the validator set. */
function changesOf(node: NodeProcess, address: Hex): readonly string[] {
  return logOf(node)
    .filter(({ level, message }) => level === "INFO" && message.startsWith(`this node (${address})`))
    .map(({ message }) => message);
}
