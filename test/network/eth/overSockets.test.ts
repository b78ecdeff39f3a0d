import { expect, it } from "vitest";
import { ForkIds } from "../../../src/chainspec/forkId.ts";
import { encodeMessage } from "../../../src/network/eth/messageCodec.ts";
import { CODES } from "../../../src/network/eth/messages.ts";
import type { AnnouncedBlock } from "../../../src/network/eth/ports.ts";
import { createEth, type Eth } from "../../../src/network/eth/protocol.ts";
import { createLogger } from "../../../src/observability/logger.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { type RecordedChain, recordedChain } from "../../builders/recordedChain.ts";
import { describeWithVectors } from "../../vectors.ts";
import { closeAfterEach, startToy, until } from "../toyNetwork.ts";
import { createToyPool, type ToyPool } from "./toyEth.ts";

describeWithVectors("two nodes over loopback", () => {
  closeAfterEach();

  it("learn of each other's heads, blocks and transactions", async () => {
    const ahead = anEth();
    const behind = anEth();
    behind.chain.moveHead(700);
    const one = await startToy(1, { protocols: ahead.eth.protocols });
    await startToy(2, { protocols: behind.eth.protocols, maintained: [one.address] });
    await until(() => behind.eth.peers[0]?.height === 717n && ahead.eth.peers[0]?.height === 700n);

    const headers = await behind.eth.peers[0]?.requestHeaders({
      start: { number: 701n },
      max: 200,
      skip: 0,
      isReverse: false,
    });
    expect(headers).toMatchObject({ ok: true, value: { length: 17 } });
    const block = ahead.chain.blocks[701];
    if (block === undefined) throw new Error("no such block");
    const bodies = await behind.eth.peers[0]?.requestBodies([block.hash]);
    expect(bodies).toMatchObject({ ok: true, value: { length: 1 } });

    ahead.eth.broadcastBlock(block, 702n);
    ahead.eth.announceTransactions([aTransaction()]);
    await until(() => behind.blocks.length === 1 && behind.pool.offered.length === 1);
    expect(behind.blocks[0]?.hash).toEqual(block.hash);
    expect(one.network.peerCount).toBe(1);
  });

  it.each([66, 67] as const)("do so when one of them speaks eth/%i alone", async (only) => {
    const newer = anEth();
    const older = anEth();
    older.chain.moveHead(700);
    const one = await startToy(only, { protocols: newer.eth.protocols });
    await startToy(only + 2, {
      protocols: older.eth.protocols.filter(({ version }) => version === only),
      maintained: [one.address],
    });
    await until(() => older.eth.peers[0]?.height === 717n && newer.eth.peers[0]?.height === 700n);
    expect(newer.eth.peers[0]).toMatchObject({ version: only, status: { protocolVersion: only } });
    const hash = newer.chain.blocks[701]?.hash;
    if (hash === undefined) throw new Error("no such block");
    expect(await older.eth.peers[0]?.requestBodies([hash])).toMatchObject({ value: { length: 1 } });

    // The first is announced by hash and requested, the second goes the other way in full.
    const [announced, sent] = [aTransaction({ nonce: 1n }), aTransaction({ nonce: 2n })];
    newer.pool.put(announced);
    const [receiver] = newer.eth.peers;
    receiver?.send(
      CODES.newPooledTransactionHashes,
      encodeMessage({ kind: "bareTransactionHashes", hashes: [announced.hash] }),
    );
    older.eth.announceTransactions([sent]);
    await until(() => older.pool.offered.length === 1 && newer.pool.offered.length === 1);
    expect(older.pool.offered[0]?.hash).toEqual(announced.hash);
    expect(newer.pool.offered[0]?.hash).toEqual(sent.hash);
    expect(one.network.peerCount).toBe(1);
  });

  it("disconnect when they are on different networks", async () => {
    const one = await startToy(3, { protocols: anEth(1n).eth.protocols });
    const two = await startToy(4, { protocols: anEth(2n).eth.protocols, maintained: [one.address] });
    await until(() => two.network.disconnects.some(({ reason }) => reason === "subprotocolTriggered"));
    expect(two.network.peerCount).toBe(0);
  });
});

function anEth(networkId = 7772n): {
  readonly eth: Eth;
  readonly chain: RecordedChain;
  readonly pool: ToyPool;
  readonly blocks: AnnouncedBlock[];
} {
  const chain = recordedChain("net2");
  const pool = createToyPool();
  const blocks: AnnouncedBlock[] = [];
  const eth = createEth({
    identity: { networkId, forkIds: new ForkIds(chain.genesis.hash, { blocks: [], times: [] }) },
    chain,
    pool,
    clock: systemClock,
    chance: () => 0.5,
    logger: createLogger({ level: "OFF", moduleLevels: {}, format: "json", isColored: false }),
    onBlock: (announced) => void blocks.push(announced),
  });
  return { eth, chain, pool, blocks };
}
