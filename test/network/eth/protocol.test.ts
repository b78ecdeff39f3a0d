import { expect, it } from "vitest";
import type { EthMessage } from "../../../src/network/eth/message.ts";
import { CODES } from "../../../src/network/eth/message.ts";
import { createPeer } from "../../../src/network/eth/peer.ts";
import { EMPTY_CODE_HASH } from "../../../src/primitives/hash.ts";
import { encodeRlpList } from "../../../src/primitives/rlp.ts";
import { encodeHeader } from "../../../src/types/header.ts";
import { describeWithVectors } from "../../vectors.ts";
import { createToyEth, type OtherEnd, settled } from "./toyEth.ts";

const kinds = ({ heard }: OtherEnd): string[] => heard.map(({ kind }) => kind);

describeWithVectors("a peer that introduces itself", () => {
  it("hears our Status at once, and is asked for the header of its head", async () => {
    const toy = createToyEth();
    const end = toy.meet(1);
    expect(kinds(end)).toEqual(["status"]);
    end.introduce();
    expect(end.isGreeted).toBe(true);
    expect(end.last("getBlockHeaders")).toMatchObject({
      requestId: 1n,
      query: { start: { hash: toy.chain.head.hash }, max: 1, skip: 0, isReverse: false },
    });
    end.say({ kind: "blockHeaders", requestId: 1n, headers: [toy.chain.head.header] });
    await settled();
    expect(toy.eth.peers.map(({ height }) => height)).toEqual([717n]);
  });

  it("has what it sent before read, though only a connection is left on which it has said nothing", () => {
    const toy = createToyEth();
    const { session } = toy.meet(1);
    const peer = createPeer(session, { clock: toy.clock, mostTransactions: () => 1 });
    peer.sessions.set(session, { isGreeted: false });
    let isDone = false;
    peer.inShare(() => {
      isDone = true;
    });
    expect(isDone).toBe(true);
  });

  it("has the question for our head answered", async () => {
    const toy = createToyEth();
    const end = await toy.befriend(1);
    end.say({
      kind: "getBlockHeaders",
      requestId: 77n,
      query: { start: { hash: toy.chain.head.hash }, max: 1, skip: 0, isReverse: false },
    });
    await settled();
    expect(end.last("blockHeaders")).toMatchObject({ requestId: 77n, headers: [{ number: 717n }] });
  });

  it("goes when it says something else first", () => {
    const end = createToyEth().meet(1);
    end.say({ kind: "transactions", transactions: [] });
    expect(end.reason).toBe("breachOfProtocol");
  });

  it("goes when it is on another network, or cannot be understood", () => {
    const toy = createToyEth();
    const stranger = toy.meet(1);
    stranger.say({
      kind: "status",
      status: { ...stranger.last("status").status, networkId: 1n },
    });
    expect(stranger.reason).toBe("subprotocolTriggered");
    const mumbler = toy.meet(2);
    mumbler.sayBytes(CODES.status, Uint8Array.of(0xc0));
    expect(mumbler.reason).toBe("subprotocolTriggered");
    expect(toy.eth.peers).toEqual([]);
  });

  it("goes when it does not show its head within 5 s, or shows another", async () => {
    const toy = createToyEth();
    const silent = toy.meet(1);
    silent.introduce();
    toy.clock.advanceBy(4_999);
    await settled();
    expect(silent.reason).toBeUndefined();
    toy.clock.advanceBy(1);
    await settled();
    expect(silent.reason).toBe("uselessPeer");

    const liar = toy.meet(2);
    liar.introduce();
    liar.say({ kind: "blockHeaders", requestId: 1n, headers: [toy.chain.genesis.header] });
    await settled();
    expect(liar.reason).toBe("uselessPeer");
  });

  it("is one peer over two crossing connections, whichever answers", async () => {
    const toy = createToyEth();
    const losing = toy.meet(1, { isLasting: false });
    const lasting = toy.meet(1);
    losing.introduce();
    lasting.introduce();
    expect([...kinds(losing), ...kinds(lasting)].filter((kind) => kind === "getBlockHeaders")).toHaveLength(
      1,
    );
    lasting.say({ kind: "blockHeaders", requestId: 1n, headers: [toy.chain.head.header] });
    await settled();
    toy.eth.protocol.onClose(losing.session, "alreadyConnected");
    expect(toy.eth.peers.map(({ height }) => height)).toEqual([717n]);
    expect(lasting.reason).toBeUndefined();
  });
});

describeWithVectors("a peer that breaks the rules", () => {
  const breaches: readonly (readonly [what: string, message: EthMessage])[] = [
    ["answers what was not asked", { kind: "blockBodies", requestId: 1n, bodies: [] }],
    ["answers what we never ask", { kind: "receipts", requestId: 1n, receipts: [] }],
  ];
  it.each(breaches)("%s: it goes", async (_, message) => {
    const end = await createToyEth().befriend(1);
    end.say(message);
    expect(end.reason).toBe("breachOfProtocol");
  });

  it("introduces itself twice, or says what cannot be read: it goes", async () => {
    const toy = createToyEth();
    const twice = await toy.befriend(1);
    twice.introduce();
    expect(twice.reason).toBe("breachOfProtocol");
    for (const [number, code] of [CODES.newBlock, CODES.getBlockBodies, 0x0d, CODES.blockHeaders].entries()) {
      const end = await toy.befriend(number + 2);
      end.sayBytes(code, Uint8Array.of(0xc1, 0xc0));
      expect(end.reason, String(code)).toBe("breachOfProtocol");
    }
  });

  it("gives more than was asked for: it goes", async () => {
    const toy = createToyEth();
    const end = toy.meet(1);
    end.introduce();
    const { header } = toy.chain.head;
    end.say({ kind: "blockHeaders", requestId: 1n, headers: [header, header] });
    await settled();
    expect(end.reason).toBe("breachOfProtocol");
  });

  it("answers late: nothing comes of it", async () => {
    const toy = createToyEth();
    const end = await toy.befriend(1);
    const asked = toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]);
    toy.clock.advanceBy(5_000);
    expect(await asked).toMatchObject({ ok: false, error: { code: "timedOut" } });
    end.say({ kind: "blockBodies", requestId: 1n, bodies: [] });
    expect(end.reason).toBeUndefined();
    expect(end.useless).toBe(1);
  });

  it("is slow over a large answer: it is waited for while enough of it comes, for a minute", async () => {
    const toy = createToyEth();
    const end = await toy.befriend(1);
    const ask = () => toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]);
    const passSeconds = (seconds: number, bytes: number): void => {
      for (let passed = 0; passed < seconds; passed += 5) {
        end.sendPart(bytes);
        toy.clock.advanceBy(5_000);
      }
    };
    const asked = ask();
    passSeconds(50, 300_000);
    end.say({ kind: "blockBodies", requestId: 1n, bodies: [] });
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

  it("leaves five questions of a kind without answers: it goes", async () => {
    const toy = createToyEth();
    const end = await toy.befriend(1);
    for (let count = 0; count < 5; count++) {
      void toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]);
      toy.clock.advanceBy(5_000);
    }
    expect(end.reason).toBe("timeout");
  });

  it("asks without end: it goes, and others are answered in between", async () => {
    const toy = createToyEth();
    const greedy = await toy.befriend(1);
    const modest = await toy.befriend(2);
    const question = {
      kind: "getBlockHeaders",
      requestId: 1n,
      query: { start: { number: 0n }, max: 512, skip: 0, isReverse: false },
    } as const;
    for (let count = 0; count < 64; count++) greedy.say(question);
    expect(greedy.reason).toBeUndefined();
    modest.say(question);
    await settled();
    await settled();
    expect(modest.last("blockHeaders").headers).toHaveLength(512);
    expect(greedy.heard.filter(({ kind }) => kind === "blockHeaders").length).toBeLessThan(10);
    for (let count = 0; count < 64; count++) greedy.say(question);
    expect(greedy.reason).toBe("uselessPeer");
  });

  it("is not asked more than five things at once", async () => {
    const toy = createToyEth();
    await toy.befriend(1);
    const asked = Array.from({ length: 6 }, () => toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]));
    expect(await asked[5]).toMatchObject({ error: { code: "busy" } });
  });
});

describeWithVectors("new blocks", () => {
  it("go to each peer once, to one that has them by their hash", async () => {
    const toy = createToyEth();
    const ends = [await toy.befriend(1), await toy.befriend(2), await toy.befriend(3)];
    const block = toy.chain.blocks[717];
    if (block === undefined) throw new Error("no such block");
    ends[0]?.say({ kind: "newBlock", block, totalDifficulty: 718n });
    toy.eth.broadcastBlock(block, 718n);
    toy.eth.broadcastBlock(block, 718n);
    expect(ends.map((end) => end.heard.filter(({ kind }) => kind === "newBlock").length)).toEqual([0, 1, 1]);
    expect(ends[1]?.last("newBlock")).toMatchObject({ totalDifficulty: 718n });
    const named = ends.map((end) => end.heard.filter(({ kind }) => kind === "newBlockHashes").length);
    expect(named).toEqual([1, 0, 0]);
    expect(ends[0]?.last("newBlockHashes").blocks).toEqual([{ hash: block.hash, number: 717n }]);
  });

  it("that are in the chain already are not read further than their header", async () => {
    const toy = createToyEth();
    const end = await toy.befriend(1);
    const block = toy.chain.blocks[717];
    if (block === undefined) throw new Error("no such block");
    const header = encodeHeader(block.header);
    const nonsense = encodeRlpList([
      encodeRlpList([header, Uint8Array.of(1), Uint8Array.of(2)]),
      Uint8Array.of(3),
    ]);
    end.sayBytes(CODES.newBlock, nonsense);
    expect(end.reason).toBeUndefined();
    toy.chain.moveHead(100);
    end.sayBytes(CODES.newBlock, nonsense);
    expect(end.reason).toBeUndefined();
    toy.chain.moveHead(716);
    end.sayBytes(CODES.newBlock, nonsense);
    expect(toy.blocks.map((announced) => announced.open())).toMatchObject([
      { ok: false, error: { code: "malformed" } },
    ]);
  });

  it("tell of the peer's height, and are handed on when they are near ours", async () => {
    const toy = createToyEth();
    toy.chain.moveHead(100);
    const end = await toy.befriend(1);
    const say = (number: number): void => {
      const block = toy.chain.blocks[number];
      if (block !== undefined) end.say({ kind: "newBlock", block, totalDifficulty: BigInt(number + 1) });
    };
    for (const number of [99, 101, 130, 131, 500]) say(number);
    expect(toy.blocks.map(({ header }) => header.number)).toEqual([101n, 130n]);
    expect(toy.eth.peers[0]).toMatchObject({
      height: 300n,
      best: { hash: toy.chain.blocks[499]?.hash, totalDifficulty: 500n },
    });
  });

  it("are known to a validator that speaks of them in consensus", async () => {
    const toy = createToyEth();
    const end = await toy.befriend(1);
    await toy.befriend(2);
    toy.eth.noteImpliedHeight(end.session.address, 800n);
    toy.eth.noteImpliedHeight(end.session.address, 790n);
    expect(toy.eth.peers.map(({ height }) => height)).toEqual([800n, 717n]);
  });

  it("are believed in no further than a range beyond our head, or one by one", async () => {
    const toy = createToyEth();
    toy.chain.moveHead(100);
    const end = await toy.befriend(1);
    const hashes = (number: bigint): void =>
      end.say({ kind: "newBlockHashes", blocks: [{ hash: EMPTY_CODE_HASH, number }] });
    toy.eth.noteImpliedHeight(end.session.address, 2n ** 63n);
    expect(toy.eth.peers[0]?.height).toBe(300n);
    hashes(2n ** 64n - 1n);
    expect(toy.eth.peers[0]?.height).toBe(301n);
  });

  it("are not asked for while we may be committing the same one", async () => {
    const toy = createToyEth();
    toy.chain.moveHead(100);
    const [quick, slow] = [await toy.befriend(1), await toy.befriend(2)];
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

  it("are announced by others with hashes", async () => {
    const toy = createToyEth();
    toy.chain.moveHead(100);
    const end = await toy.befriend(1);
    end.say({ kind: "newBlockHashes", blocks: [{ hash: EMPTY_CODE_HASH, number: 105n }] });
    expect(toy.eth.peers[0]?.height).toBe(105n);
  });

  it("that a peer names are its best, when we have them", async () => {
    const toy = createToyEth();
    const end = await toy.befriend(1);
    toy.chain.moveHead(717);
    const name = (number: number): void => {
      const hash = toy.chain.blocks[number]?.hash;
      if (hash === undefined) throw new Error("no such block");
      end.say({ kind: "newBlockHashes", blocks: [{ hash, number: BigInt(number) }] });
    };
    name(700);
    const before = toy.eth.peers[0]?.best;
    name(717);
    expect(before?.totalDifficulty).toBe(718n);
    expect(toy.eth.peers[0]?.best).toEqual({ hash: toy.chain.blocks[717]?.hash, totalDifficulty: 718n });
  });
});
