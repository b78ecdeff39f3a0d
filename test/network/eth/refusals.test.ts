import { expect, it } from "vitest";
import { CODES } from "../../../src/network/eth/messages.ts";
import type { DisconnectReason } from "../../../src/network/rlpx/disconnectReason.ts";
import type { InputRefusal } from "../../../src/network/traffic.ts";
import { EMPTY_CODE_HASH, keccak256 } from "../../../src/primitives/hash.ts";
import { encodeRlpList } from "../../../src/primitives/rlp.ts";
import type { Block } from "../../../src/types/block.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { describeWithVectors } from "../../vectors.ts";
import { createToyEth, type RemotePeer, settled, type ToyEth } from "./toyEth.ts";

const transaction = aTransaction({ nonce: 1n });
const announcementOf = (index: number) => ({ type: 2, size: 110, hash: keccak256(Buffer.from(`${index}`)) });
const manyAnnouncements = (from: number) =>
  Array.from({ length: 4_096 }, (_, at) => announcementOf(from + at));
const getHeader = (requestId: bigint) => ({
  kind: "getBlockHeaders" as const,
  requestId,
  query: { start: { number: 1n }, max: 1, skip: 0, isReverse: false },
});

interface Case {
  readonly act: (end: RemotePeer, toy: ToyEth) => Promise<void> | void;
  readonly counted: Partial<Record<InputRefusal, number>>;
  /** Undefined: the connection stays. */
  readonly reason?: DisconnectReason;
}

/** What a peer does, how it is counted, and whether its connection ends (p2p.md#abuse). */
const CASES: Readonly<Record<string, Case>> = {
  "a malformed message": {
    act: (end) => end.sendBytes(CODES.getBlockHeaders, Uint8Array.of(0xc0)),
    counted: { malformed: 1 },
    reason: "breachOfProtocol",
  },
  "a message that is longer than its kind may be": {
    act: (end) => end.sendBytes(CODES.newBlockHashes, new Uint8Array(64 * 1024 + 1)),
    counted: { malformed: 1 },
    reason: "breachOfProtocol",
  },
  "a code without a message": {
    act: (end) => end.sendBytes(0x0b, Uint8Array.of(0xc0)),
    counted: { malformed: 1 },
    reason: "breachOfProtocol",
  },
  "malformed transactions": {
    act: (end) => end.sendBytes(CODES.transactions, encodeRlpList([Uint8Array.of(0xc1, 0x01)])),
    counted: { malformed: 1 },
    reason: "breachOfProtocol",
  },
  "a malformed response": {
    async act(end, toy) {
      const asked = toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]);
      end.sendBytes(
        CODES.blockBodies,
        encodeRlpList([Uint8Array.of(1), encodeRlpList([Uint8Array.of(0x01)])]),
      );
      await asked;
    },
    counted: { malformed: 1 },
    reason: "breachOfProtocol",
  },
  "a response that nobody asked for": {
    act: (end) => end.send({ kind: "blockBodies", requestId: 1n, bodies: [] }),
    counted: { unsolicitedResponse: 1 },
    reason: "breachOfProtocol",
  },
  "receipts, which are never asked for": {
    act: (end) => end.send({ kind: "receipts", requestId: 1n, receipts: [] }),
    counted: { unsolicitedResponse: 1 },
    reason: "breachOfProtocol",
  },
  "a response with another request's id, which counts as a useless one": {
    act(end, toy) {
      void toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]);
      end.send({ kind: "blockBodies", requestId: 99n, bodies: [] });
      expect(end.penalties).toBe(1);
    },
    counted: { wrongRequestId: 1 },
  },
  "no response in time, and then a late one": {
    act(end, toy) {
      void toy.eth.peers[0]?.requestBodies([EMPTY_CODE_HASH]);
      toy.clock.advanceBy(5_000);
      end.send({ kind: "blockBodies", requestId: 1n, bodies: [] });
    },
    counted: { noResponse: 1, lateResponse: 1 },
  },
  "more requests than may wait": {
    act(end) {
      for (let id = 1n; id <= 65n; id++) end.send(getHeader(id));
    },
    counted: { tooManyRequests: 1 },
    reason: "uselessPeer",
  },
  "more announcements than may wait": {
    act(end) {
      for (const from of [0, 4_096])
        end.send({ kind: "newPooledTransactionHashes", announcements: manyAnnouncements(from) });
    },
    counted: { tooManyAnnouncements: 4_096 },
  },
  "an announced transaction that does not come": {
    async act(end, toy) {
      const announcements = [announcementOf(1), announcementOf(2)];
      end.send({ kind: "newPooledTransactionHashes", announcements });
      toy.clock.advanceBy(500);
      end.send({ kind: "pooledTransactions", requestId: 1n, transactions: [] });
      await settled();
    },
    counted: { undelivered: 2 },
  },
  "a transaction of another size than announced": {
    async act(end, toy) {
      const { type, hash } = transaction;
      end.send({ kind: "newPooledTransactionHashes", announcements: [{ type, hash, size: 1_000 }] });
      toy.clock.advanceBy(500);
      end.send({ kind: "pooledTransactions", requestId: 1n, transactions: [transaction] });
      await settled();
    },
    counted: { falseAnnouncement: 1 },
    reason: "uselessPeer",
  },
  "more transactions than may wait": {
    act(end, toy) {
      toy.pool.offer = () => new Promise(() => undefined);
      const message = encodeRlpList([aTransaction({ data: new Uint8Array(900_000) }).raw]);
      for (let count = 0; count < 6; count++) end.sendBytes(CODES.transactions, message);
    },
    counted: { tooManyTransactions: 2 },
  },
  "transactions and announcements after too many that were rejected": {
    act(end, toy) {
      toy.pool.offer = () => ({ accepted: 0, rejected: 1_100 });
      end.send({ kind: "transactions", transactions: [transaction] });
      end.send({ kind: "transactions", transactions: [aTransaction({ nonce: 2n })] });
      end.send({ kind: "newPooledTransactionHashes", announcements: [announcementOf(1)] });
    },
    counted: { ignored: 2 },
  },
  "a block far from the head": {
    act(end, toy) {
      end.send({ kind: "newBlock", block: blockOf(toy, { number: 10_000n }), totalDifficulty: 10_001n });
    },
    counted: { strayBlock: 1 },
  },
  "a block whose extra data is of no such chain, which counts as a useless one": {
    act(end, toy) {
      const block = blockOf(toy, { extraData: Uint8Array.of(1) });
      end.send({ kind: "newBlock", block, totalDifficulty: 719n });
      expect(end.penalties).toBe(1);
    },
    counted: { strayBlock: 1 },
  },
};

describeWithVectors("a peer is counted for", () => {
  it.each(Object.entries(CASES))("%s", async (_, { act, counted, reason }) => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    await act(end, toy);
    await settled();
    expect(toy.refused).toEqual(counted);
    expect(end.reason).toBe(reason);
  });

  it.each([
    ["a message before its Status", (end: RemotePeer) => end.send(getHeader(1n)), "breachOfProtocol"],
    [
      "a malformed Status",
      (end: RemotePeer) => end.sendBytes(CODES.status, Uint8Array.of(0xc0)),
      "subprotocolTriggered",
    ],
  ] as const)("%s", (_, act, reason) => {
    const toy = createToyEth();
    const end = toy.connect(1);
    act(end);
    expect(toy.refused).toEqual({ malformed: 1 });
    expect(end.reason).toBe(reason);
  });

  it("a head whose header it does not return", async () => {
    const toy = createToyEth();
    const end = toy.connect(1);
    end.sendStatus(EMPTY_CODE_HASH);
    end.send({ kind: "blockHeaders", requestId: 1n, headers: [] });
    await settled();
    expect(toy.refused).toEqual({ falseHead: 1 });
    expect(end.reason).toBe("uselessPeer");
  });
});

/** The block after the head, with changes. */
function blockOf({ chain }: ToyEth, change: Partial<Block["header"]>): Block {
  const { header, hash } = chain.head;
  const next = { ...header, parentHash: hash, number: header.number + 1n };
  return { header: { ...next, ...change }, transactions: [], ommers: [] };
}
