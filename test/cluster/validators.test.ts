import { afterEach, describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";
import { type NodeProcess, until } from "./nodeProcess.ts";
import { type Member, prepareNetwork, type ValidatorNetwork } from "./validatorNetwork.ts";

interface Block {
  readonly number: string;
  readonly hash: string;
  readonly miner: string;
  readonly stateRoot: string;
}

let network: ValidatorNetwork | undefined;
afterEach(async () => {
  await network?.stopAll();
});

const heightOf = async (node: NodeProcess): Promise<number> =>
  Number(await node.rpc<string>("eth_blockNumber"));
const blockOf = (node: NodeProcess, number: number): Promise<Block> =>
  node.rpc("eth_getBlockByNumber", [`0x${number.toString(16)}`, false]);

async function reaches(nodes: readonly NodeProcess[], height: number, withinMs: number): Promise<void> {
  await until(
    async () => ((await Promise.all(nodes.map(heightOf))).every((each) => each >= height) ? true : undefined),
    withinMs,
    `block ${height} on all nodes`,
  );
}

function nodeOf({ node }: Member | undefined = { node: undefined } as unknown as Member): NodeProcess {
  if (node === undefined) throw new Error("that node is not running");
  return node;
}

describe("four validators and a follower, processes of their own", () => {
  it("make the same blocks in turn, and pass on what was sent to one of them", async () => {
    network = await prepareNetwork({ validators: 4, followers: 1 });
    const nodes = await network.startAll();
    await reaches(nodes, 3, 60_000);
    const [first, , , , follower] = nodes;
    if (first === undefined || follower === undefined) throw new Error("five nodes");
    const sent = aTransaction({
      chainId: 7999n,
      type: 2,
      maxFeePerGas: 0n,
      maxPriorityFeePerGas: 0n,
      gasLimit: 21_000n,
      to: account(1).address,
      value: 7n,
    });
    // Given to the node that makes no blocks: only by way of peers can it be mined.
    await follower.rpc("eth_sendRawTransaction", [toHex(sent.raw)]);
    const receipt = await until(
      async () =>
        (await first.rpc<{ blockNumber: string } | null>("eth_getTransactionReceipt", [toHex(sent.hash)])) ??
        undefined,
      20_000,
      "the transaction in a block",
    );
    const height = Math.max(Number(receipt.blockNumber), 5);
    await reaches(nodes, height, 30_000);
    const chains = await Promise.all(
      nodes.map((node) => Promise.all(Array.from({ length: height }, (_, n) => blockOf(node, n + 1)))),
    );
    for (const chain of chains)
      expect(chain.map(({ hash }) => hash)).toEqual(chains[0]?.map(({ hash }) => hash));
    expect(new Set(chains[0]?.map(({ miner }) => miner)).size).toBeGreaterThan(1);
    expect(await follower.rpc("eth_getBalance", [toHex(account(1).address), "latest"])).toBe("0x7");
    expect(Number(await follower.rpc<string>("net_peerCount"))).toBe(4);
    expect(await follower.rpc("eth_protocolVersion")).toBe("0x44");
    expect(await follower.rpc("eth_syncing")).toBe(false);
  }, 150_000);

  it("go on without one, stand still without two, and go on when one is back", async () => {
    network = await prepareNetwork({ validators: 4 });
    const nodes = await network.startAll();
    await reaches(nodes, 2, 60_000);
    const [first, second, third, fourth] = network.members;
    await nodeOf(fourth).kill();
    const alive = [nodeOf(first), nodeOf(second), nodeOf(third)];
    await reaches(alive, (await heightOf(nodeOf(first))) + 5, 60_000);
    await nodeOf(third).kill();
    const two = [nodeOf(first), nodeOf(second)];
    const stopped = await until(
      async () => {
        const before = await Promise.all(two.map(heightOf));
        await new Promise((resolve) => setTimeout(resolve, 4_000));
        const after = await Promise.all(two.map(heightOf));
        return before.join() === after.join() ? Math.max(...after) : undefined;
      },
      30_000,
      "a standstill",
    );
    if (fourth === undefined) throw new Error("four members");
    // Its chain ends some blocks before that of the others.
    const back = await network.start(fourth);
    await reaches([...two, back], stopped + 2, 90_000);
    const hashes = await Promise.all([...two, back].map((node) => blockOf(node, stopped + 1)));
    expect(new Set(hashes.map(({ hash }) => hash)).size).toBe(1);
  }, 240_000);
});
