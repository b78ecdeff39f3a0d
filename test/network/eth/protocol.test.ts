import { expect, it } from "vitest";
import { encodeMessage } from "../../../src/network/eth/messageCodec.ts";
import type { EthMessage } from "../../../src/network/eth/messages.ts";
import { CODES } from "../../../src/network/eth/messages.ts";
import { Peer } from "../../../src/network/eth/peer.ts";
import { EMPTY_CODE_HASH } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { encodeRlpList } from "../../../src/primitives/rlp.ts";
import type { NamedHeader } from "../../../src/types/block.ts";
import { encodeHeader } from "../../../src/types/header.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { describeWithVectors } from "../../vectors.ts";
import { createToyEth, type RemotePeer, settled, type ToyEth } from "./toyEth.ts";

const kinds = ({ received }: RemotePeer): string[] => received.map(({ kind }) => kind);

/** Our node is at block 710; the peers' head is block 717. */
function behind(): { readonly toy: ToyEth; readonly theirs: NamedHeader } {
  const toy = createToyEth();
  const theirs = toy.chain.head;
  toy.chain.moveHead(710);
  return { toy, theirs };
}

describeWithVectors("a new peer", () => {
  it("gets our Status at once, and a request for the header of its head", async () => {
    const { toy, theirs } = behind();
    const end = toy.connect(1);
    expect(kinds(end)).toEqual(["status"]);
    end.sendStatus(theirs.hash);
    expect(end.isGreeted).toBe(true);
    expect(end.last("getBlockHeaders")).toMatchObject({
      requestId: 1n,
      query: { start: { hash: theirs.hash }, max: 1, skip: 0, isReverse: false },
    });
    expect(toy.eth.peers.map(({ height }) => height)).toEqual([undefined]);
    end.send({ kind: "blockHeaders", requestId: 1n, headers: [theirs.header] });
    await settled();
    expect(toy.eth.peers.map(({ height }) => height)).toEqual([717n]);
  });

  it("hears in Status of the forks that discovery tells of and asks for", () => {
    const { eth, connect } = createToyEth();
    const own = eth.forks.own();
    expect(connect(1).last("status")?.status.forkId).toEqual(own);
    expect(eth.forks.isCompatible(own)).toBe(true);
    expect(eth.forks.isCompatible({ ...own, checksum: own.checksum ^ 1 })).toBe(false);
  });

  it.each([717n, 300n])("is not asked for a header that we have: block %i", (number) => {
    const toy = createToyEth();
    const end = toy.connect(1);
    end.sendStatus(toy.chain.headerByNumber(number)?.hash);
    expect(kinds(end)).toEqual(["status"]);
    expect(end.isGreeted).toBe(true);
    expect(toy.eth.peers.map(({ height }) => height)).toEqual([number]);
  });

  it("has its earlier input processed, though the only connection left has no Status yet", () => {
    const toy = createToyEth();
    const { session } = toy.connect(1);
    const peer = new Peer(session, toy);
    peer.connections.open(session);
    let isDone = false;
    peer.inShare(() => {
      isDone = true;
    });
    expect(isDone).toBe(true);
  });

  it("gets a response to its request for our head", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    end.send({
      kind: "getBlockHeaders",
      requestId: 77n,
      query: { start: { hash: toy.chain.head.hash }, max: 1, skip: 0, isReverse: false },
    });
    await settled();
    expect(end.last("blockHeaders")).toMatchObject({ requestId: 77n, headers: [{ number: 717n }] });
  });

  it.each([66, 67, 68] as const)("is greeted with the version of the connection: eth/%i", async (version) => {
    const toy = createToyEth();
    const end = await toy.connectReady(1, { version });
    expect(end.last("status").status.protocolVersion).toBe(version);
    expect(toy.eth.peers).toMatchObject([{ version, height: 717n }]);
  });

  it("may ask for more transactions than are served, and gets the first of them", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    const pooled = Array.from({ length: 300 }, (_, nonce) => aTransaction({ nonce: BigInt(nonce) }));
    for (const transaction of pooled) toy.pool.put(transaction);
    const unknown = Array.from({ length: 4_096 - 300 }, () => EMPTY_CODE_HASH);
    const hashes = [...pooled.map(({ hash }) => hash), ...unknown];
    end.send({ kind: "getPooledTransactions", requestId: 5n, hashes });
    await settled();
    const { requestId, transactions } = end.last("pooledTransactions");
    expect(requestId).toBe(5n);
    expect(transactions.map(({ hash }) => toHex(hash))).toEqual(
      pooled.slice(0, 256).map(({ hash }) => toHex(hash)),
    );
    end.send({ kind: "getPooledTransactions", requestId: 6n, hashes: [...hashes, EMPTY_CODE_HASH] });
    expect(end.reason).toBe("breachOfProtocol");
  });

  it("gets an empty answer to its request for state nodes over eth/66", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1, { version: 66 });
    end.send({ kind: "getNodeData", requestId: 9n, hashes: [toy.chain.head.header.stateRoot] });
    await settled();
    expect(end.last("nodeData")).toEqual({ kind: "nodeData", requestId: 9n, nodes: [] });
    expect(end.reason).toBeUndefined();
  });

  it("is disconnected when its first message is not Status", () => {
    const end = createToyEth().connect(1);
    end.send({ kind: "transactions", transactions: [] });
    expect(end.reason).toBe("breachOfProtocol");
  });

  it("is disconnected when it is on another network, or its Status is malformed", () => {
    const toy = createToyEth();
    const foreign = toy.connect(1);
    foreign.send({
      kind: "status",
      status: { ...foreign.last("status").status, networkId: 1n },
    });
    expect(foreign.reason).toBe("subprotocolTriggered");
    const malformed = toy.connect(2);
    malformed.sendBytes(CODES.status, Uint8Array.of(0xc0));
    expect(malformed.reason).toBe("subprotocolTriggered");
    expect(toy.eth.peers).toEqual([]);
  });

  it("is disconnected when it does not return its head within 5 s, or returns another", async () => {
    const { toy, theirs } = behind();
    const silent = toy.connect(1);
    silent.sendStatus(theirs.hash);
    toy.clock.advanceBy(4_999);
    await settled();
    expect(silent.reason).toBeUndefined();
    toy.clock.advanceBy(1);
    await settled();
    expect(silent.reason).toBe("uselessPeer");

    const useless = toy.connect(2);
    useless.sendStatus(theirs.hash);
    useless.send({ kind: "blockHeaders", requestId: 1n, headers: [toy.chain.genesis.header] });
    await settled();
    expect(useless.reason).toBe("uselessPeer");
  });

  it("is one peer over two crossing connections, whichever responds", async () => {
    const { toy, theirs } = behind();
    const losing = toy.connect(1, { isLasting: false });
    const lasting = toy.connect(1);
    losing.sendStatus(theirs.hash);
    lasting.sendStatus(theirs.hash);
    expect([...kinds(losing), ...kinds(lasting)].filter((kind) => kind === "getBlockHeaders")).toHaveLength(
      1,
    );
    lasting.send({ kind: "blockHeaders", requestId: 1n, headers: [theirs.header] });
    await settled();
    losing.close("alreadyConnected");
    expect(toy.eth.peers.map(({ height }) => height)).toEqual([717n]);
    expect(lasting.reason).toBeUndefined();
  });
});

describeWithVectors("a peer that breaks the rules", () => {
  const breaches: readonly (readonly [what: string, message: EthMessage])[] = [
    ["sends an unsolicited response", { kind: "blockBodies", requestId: 1n, bodies: [] }],
    ["sends a response that is never requested", { kind: "receipts", requestId: 1n, receipts: [] }],
  ];
  it.each(breaches)("%s: it is disconnected", async (_, message) => {
    const end = await createToyEth().connectReady(1);
    end.send(message);
    expect(end.reason).toBe("breachOfProtocol");
  });

  it("sends Status twice, or malformed messages: it is disconnected", async () => {
    const toy = createToyEth();
    const twice = await toy.connectReady(1);
    twice.sendStatus();
    expect(twice.reason).toBe("breachOfProtocol");
    for (const [number, code] of [CODES.newBlock, CODES.getBlockBodies, 0x0d, CODES.blockHeaders].entries()) {
      const end = await toy.connectReady(number + 2);
      end.sendBytes(code, Uint8Array.of(0xc1, 0xc0));
      expect(end.reason, String(code)).toBe("breachOfProtocol");
    }
  });

  it.each([
    [66, 0x0b, CODES.nodeData],
    [67, CODES.getNodeData, CODES.nodeData],
    [68, CODES.getNodeData, CODES.nodeData],
  ] as const)("sends what eth/%i does not have: it is disconnected", async (version, ...codes) => {
    const payload = encodeMessage({ kind: "getNodeData", requestId: 1n, hashes: [] });
    const toy = createToyEth();
    for (const [number, code] of codes.entries()) {
      const end = await toy.connectReady(number + 1, { version });
      end.sendBytes(code, payload);
      expect(end.reason, String(code)).toBe("breachOfProtocol");
    }
  });

  it("returns more than requested: it is disconnected", async () => {
    const { toy, theirs } = behind();
    const end = toy.connect(1);
    end.sendStatus(theirs.hash);
    const { header } = theirs;
    end.send({ kind: "blockHeaders", requestId: 1n, headers: [header, header] });
    await settled();
    expect(end.reason).toBe("breachOfProtocol");
  });

  it("responds late: the response is ignored", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    const asked = toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]);
    toy.clock.advanceBy(5_000);
    expect(await asked).toMatchObject({ ok: false, error: { code: "timedOut" } });
    end.send({ kind: "blockBodies", requestId: 1n, bodies: [] });
    expect(end.reason).toBeUndefined();
    expect(end.penalties).toBe(1);
  });

  it("is slow with a large response: the request stays open while enough arrives, for a minute", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    const ask = () => toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]);
    const passSeconds = (seconds: number, bytes: number): void => {
      for (let passed = 0; passed < seconds; passed += 5) {
        end.sendPart(bytes);
        toy.clock.advanceBy(5_000);
      }
    };
    const asked = ask();
    passSeconds(50, 300_000);
    end.send({ kind: "blockBodies", requestId: 1n, bodies: [] });
    expect(await asked).toMatchObject({ ok: true });
    for (const [seconds, bytes] of [
      [5, 200_000],
      [60, 300_000],
    ] as const) {
      const late = ask();
      passSeconds(seconds, bytes);
      expect(await late).toMatchObject({ ok: false, error: { code: "timedOut" } });
    }
  });

  it("leaves five requests of a kind without responses: it is disconnected", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    for (let count = 0; count < 5; count++) {
      void toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]);
      toy.clock.advanceBy(5_000);
    }
    expect(end.reason).toBe("timeout");
  });

  it("floods requests: it is disconnected, and others are served in between", async () => {
    const toy = createToyEth();
    const greedy = await toy.connectReady(1);
    const modest = await toy.connectReady(2);
    const request = {
      kind: "getBlockHeaders",
      requestId: 1n,
      query: { start: { number: 0n }, max: 512, skip: 0, isReverse: false },
    } as const;
    for (let count = 0; count < 64; count++) greedy.send(request);
    expect(greedy.reason).toBeUndefined();
    modest.send(request);
    for (let slice = 0; slice < 10 && !kinds(modest).includes("blockHeaders"); slice++) await settled();
    expect(modest.last("blockHeaders").headers).toHaveLength(512);
    expect(greedy.received.filter(({ kind }) => kind === "blockHeaders").length).toBeLessThan(10);
    for (let count = 0; count < 64; count++) greedy.send(request);
    expect(greedy.reason).toBe("uselessPeer");
  });

  it("asks for what takes long: it waits for the time that its peer has", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    const held: (() => void)[] = [];
    Object.assign(end.session.share, { take: (work: () => void) => held.push(work) });
    end.send({ kind: "getBlockBodies", requestId: 7n, hashes: [toy.chain.head.hash] });
    await settled();
    expect(kinds(end)).not.toContain("blockBodies");
    for (let slice = 0; held.length > 0 && slice < 10; slice++) {
      held.shift()?.();
      await settled();
    }
    expect(end.last("blockBodies").requestId).toBe(7n);
  });

  it("has at most five open requests", async () => {
    const toy = createToyEth();
    await toy.connectReady(1);
    const asked = Array.from({ length: 6 }, () => toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]));
    expect(await asked[5]).toMatchObject({ error: { code: "busy" } });
  });
});

describeWithVectors("new blocks", () => {
  it("go to each peer once, and by hash to a peer that has them", async () => {
    const toy = createToyEth();
    const ends = [await toy.connectReady(1), await toy.connectReady(2), await toy.connectReady(3)];
    const block = toy.chain.blocks[717];
    if (block === undefined) throw new Error("no such block");
    ends[0]?.send({ kind: "newBlock", block, totalDifficulty: 718n });
    toy.eth.broadcastBlock(block, 718n);
    toy.eth.broadcastBlock(block, 718n);
    expect(ends.map((end) => end.received.filter(({ kind }) => kind === "newBlock").length)).toEqual([
      0, 1, 1,
    ]);
    expect(ends[1]?.last("newBlock")).toMatchObject({ totalDifficulty: 718n });
    const named = ends.map((end) => end.received.filter(({ kind }) => kind === "newBlockHashes").length);
    expect(named).toEqual([1, 0, 0]);
    expect(ends[0]?.last("newBlockHashes").blocks).toEqual([{ hash: block.hash, number: 717n }]);
  });

  it("that are in the chain already are decoded no further than their header", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    const block = toy.chain.blocks[717];
    if (block === undefined) throw new Error("no such block");
    const header = encodeHeader(block.header);
    const nonsense = encodeRlpList([
      encodeRlpList([header, Uint8Array.of(1), Uint8Array.of(2)]),
      Uint8Array.of(3),
    ]);
    end.sendBytes(CODES.newBlock, nonsense);
    expect(end.reason).toBeUndefined();
    toy.chain.moveHead(100);
    end.sendBytes(CODES.newBlock, nonsense);
    expect(end.reason).toBeUndefined();
    toy.chain.moveHead(716);
    end.sendBytes(CODES.newBlock, nonsense);
    expect(toy.blocks.map((announced) => announced.open())).toMatchObject([
      { ok: false, error: { code: "malformed" } },
    ]);
  });

  it("raise the peer's height, and are passed on when they are near the head", async () => {
    const toy = createToyEth();
    toy.chain.moveHead(100);
    const end = await toy.connectReady(1);
    const say = (number: number): void => {
      const block = toy.chain.blocks[number];
      if (block !== undefined) end.send({ kind: "newBlock", block, totalDifficulty: BigInt(number + 1) });
    };
    for (const number of [99, 101, 130, 131, 500]) say(number);
    expect(toy.blocks.map(({ header }) => header.number)).toEqual([101n, 130n]);
    expect(toy.eth.peers[0]).toMatchObject({
      height: 300n,
      best: { hash: toy.chain.blocks[499]?.hash, totalDifficulty: 500n },
    });
  });

  it("raise the height of a validator whose consensus messages imply them", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    await toy.connectReady(2);
    toy.eth.noteImpliedHeight(end.session.address, 800n);
    toy.eth.noteImpliedHeight(end.session.address, 790n);
    expect(toy.eth.peers.map(({ height }) => height)).toEqual([800n, 717n]);
  });

  it("raise a claimed height to at most one range above the head, or one by one", async () => {
    const toy = createToyEth();
    toy.chain.moveHead(100);
    const end = await toy.connectReady(1);
    const hashes = (number: bigint): void =>
      end.send({ kind: "newBlockHashes", blocks: [{ hash: EMPTY_CODE_HASH, number }] });
    toy.eth.noteImpliedHeight(end.session.address, 2n ** 63n);
    expect(toy.eth.peers[0]?.height).toBe(300n);
    hashes(2n ** 64n - 1n);
    expect(toy.eth.peers[0]?.height).toBe(301n);
  });

  it("are not requested while the same one may be being committed here", async () => {
    const toy = createToyEth();
    toy.chain.moveHead(100);
    const [quick, slow] = [await toy.connectReady(1), await toy.connectReady(2)];
    const heights = (): unknown => toy.eth.peers.map(({ height }) => height);
    toy.eth.noteImpliedHeight(quick.session.address, 101n);
    toy.chain.moveHead(101);
    toy.clock.advanceBy(500);
    expect(heights()).toEqual([100n, 100n]);
    toy.eth.noteImpliedHeight(slow.session.address, 102n);
    toy.clock.advanceBy(499);
    expect(heights()).toEqual([100n, 100n]);
    toy.clock.advanceBy(1);
    expect(heights()).toEqual([100n, 102n]);
    toy.eth.noteImpliedHeight(quick.session.address, 103n);
    expect(heights()).toEqual([103n, 102n]);
  });

  it("are announced by other clients with hashes", async () => {
    const toy = createToyEth();
    toy.chain.moveHead(100);
    const end = await toy.connectReady(1);
    end.send({ kind: "newBlockHashes", blocks: [{ hash: EMPTY_CODE_HASH, number: 105n }] });
    expect(toy.eth.peers[0]?.height).toBe(105n);
  });

  it("named by a peer become its best, when we have them", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    toy.chain.moveHead(717);
    const name = (number: number): void => {
      const hash = toy.chain.blocks[number]?.hash;
      if (hash === undefined) throw new Error("no such block");
      end.send({ kind: "newBlockHashes", blocks: [{ hash, number: BigInt(number) }] });
    };
    name(700);
    const before = toy.eth.peers[0]?.best;
    name(717);
    expect(before?.totalDifficulty).toBe(718n);
    expect(toy.eth.peers[0]?.best).toEqual({ hash: toy.chain.blocks[717]?.hash, totalDifficulty: 718n });
  });
});
