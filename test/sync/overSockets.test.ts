import { readFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { ForkIds, forkPoints } from "../../src/chainspec/forkId.ts";
import type { EthPool } from "../../src/network/eth/ports.ts";
import { createEth, type Eth } from "../../src/network/eth/protocol.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { systemClock } from "../../src/primitives/clock.ts";
import { createSync, type Sync } from "../../src/sync/sync.ts";
import { aChain, type TestChain } from "../builders/aChain.ts";
import { recordedBlocks } from "../builders/recordedChain.ts";
import { closeAfterEach, startToy, until } from "../network/toyNetwork.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";

/** A node's chain, eth protocol and sync, without RPC and consensus. */
interface Node extends TestChain {
  readonly eth: Eth;
  readonly sync: Sync;
}

const NO_POOL: EthPool = {
  isOpen: true,
  isSaturated: false,
  get: () => undefined,
  transactions: () => [],
  offer: () => ({ accepted: 0, rejected: 0 }),
};

async function aNode(): Promise<Node> {
  const made = await aChain({
    genesis: readFileSync(vectorPath("besu-ibft", "net2", "genesis.json"), "utf8"),
  });
  const { chain, spec } = made;
  const eth: Eth = createEth({
    identity: {
      networkId: 7772n,
      forkIds: new ForkIds(chain.genesis.hash, forkPoints(spec.forks, chain.genesis.header.timestamp)),
    },
    chain,
    pool: NO_POOL,
    clock: systemClock,
    chance: () => 0.5,
    logger: silentLogger,
    onBlock: (announced) => sync.offer(announced),
  });
  const sync: Sync = createSync({
    peers: () => eth.peers,
    chain,
    clock: systemClock,
    logger: silentLogger,
  });
  eth.onPeersChanged(() => sync.wake());
  chain.onHeadChanged("metrics", ({ added }) => {
    const newest = added.at(-1);
    if (newest !== undefined && sync.isInSync) eth.broadcastBlock(newest, newest.totalDifficulty);
  });
  opened.push({ eth, sync });
  return { ...made, eth, sync };
}

const opened: Pick<Node, "eth" | "sync">[] = [];

describeWithVectors("nodes with real chains over loopback", () => {
  closeAfterEach();
  afterEach(async () => {
    for (const { eth, sync } of opened.splice(0)) {
      eth.close();
      await sync.close();
    }
  });

  const blocks = recordedBlocks(["besu-ibft", "net2"]);
  const importUpTo = async ({ chain }: Node, number: number): Promise<void> => {
    for (const block of blocks.slice(Number(chain.head.header.number) + 1, number + 1)) {
      const imported = await chain.importBlock(block);
      if (!imported.ok) throw new Error(imported.error.message);
    }
  };

  it("catch up over two ranges, and then follow block by block, also through an intermediate node", async () => {
    const [ahead, middle, last] = [await aNode(), await aNode(), await aNode()];
    await importUpTo(ahead, 260);
    const one = await startToy(1, { protocols: ahead.eth.protocols });
    const two = await startToy(2, { protocols: middle.eth.protocols, maintained: [one.address] });
    await until(() => middle.chain.head.header.number === 260n);
    await startToy(3, { protocols: last.eth.protocols, maintained: [two.address] });
    await until(() => last.chain.head.header.number === 260n);
    for (const number of [261, 262, 263]) {
      await importUpTo(ahead, number);
      await until(() => last.chain.head.header.number === BigInt(number));
    }
    expect(last.chain.head.hash).toEqual(ahead.chain.head.hash);
    expect(last.chain.head.header.stateRoot).toEqual(blocks[263]?.header.stateRoot);
    expect([middle, last].map(({ sync }) => sync.isInSync)).toEqual([true, true]);
  });
});
