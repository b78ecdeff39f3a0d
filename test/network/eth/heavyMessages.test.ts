import { expect, it } from "vitest";
import { CODES } from "../../../src/network/eth/messageCodes.ts";
import { concatBytes } from "../../../src/primitives/hex.ts";
import { encodeRlpIndex, encodeRlpList, encodeRlpString, rlpPrefix } from "../../../src/primitives/rlp.ts";
import { encodeHeader } from "../../../src/types/header.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { IN_REAL_TIME } from "../../realTime.ts";
import { describeWithVectors } from "../../vectors.ts";
import { createToyEth, type RemotePeer } from "./toyEth.ts";

/** The smallest encoding that decodes as a transaction: ten bytes. */
const TINY_TRANSACTION = Uint8Array.of(0xc9, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x1b, 0x01, 0x01);
const MIB = 1024 ** 2;
/** Without bounds most of these took 3 to 11 s, now some tens of ms: the rest is headroom for a busy machine. */
const LONGEST_MS = 1_500;

describeWithVectors(
  "the largest messages of the smallest items",
  () => {
    /** How long the message blocks the thread. */
    function timeToReceive(end: RemotePeer, code: number, payload: Uint8Array): number {
      const startMs = performance.now();
      end.sendBytes(code, payload);
      return performance.now() - startMs;
    }

    const heavy: readonly (readonly [what: string, code: number, make: () => Uint8Array])[] = [
      [
        "a blob transaction with ten million attachments",
        CODES.transactions,
        () =>
          encodeRlpList([
            encodeRlpString(
              concatBytes(
                Uint8Array.of(3),
                list(concatBytes(Uint8Array.of(0xc0), new Uint8Array(10 * MIB - 100).fill(0x80))),
              ),
            ),
          ]),
      ],
      [
        "unsolicited receipts",
        CODES.receipts,
        () => encodeRlpList([Uint8Array.of(1), list(list(manyOf(receiptOfLogs(), 15 * MIB)))]),
      ],
      ["a million transactions", CODES.transactions, () => list(manyOf(TINY_TRANSACTION, 10 * MIB))],
      [
        "several MiB of transactions",
        CODES.transactions,
        () =>
          encodeRlpList(
            Array.from({ length: 30 }, () => aTransaction({ data: new Uint8Array(100_000) }).raw),
          ),
      ],
    ];
    it.each(heavy)("%s: the sender is disconnected", async (_, code, make) => {
      const end = await createToyEth().connectReady(1);
      expect(timeToReceive(end, code, make())).toBeLessThan(LONGEST_MS);
      expect(end.reason).toBe("breachOfProtocol");
    });

    it("many tiny transactions: only as many are read as a usual message has", async () => {
      const toy = createToyEth();
      const end = await toy.connectReady(1);
      end.sendBytes(
        CODES.transactions,
        encodeRlpList(Array.from({ length: 12_000 }, (_, index) => tiny(index))),
      );
      expect([toy.pool.offered.length, end.reason]).toEqual([10_922, undefined]);
    });

    it("a block of a million transactions: its body stays undecoded, and is refused when its header is valid", async () => {
      const toy = createToyEth();
      toy.chain.moveHead(700);
      const end = await toy.connectReady(1);
      const header = encodeHeader(toy.chain.blocks[701]?.header ?? toy.chain.head.header);
      const block = encodeRlpList([header, list(manyOf(TINY_TRANSACTION, 15 * MIB)), list(new Uint8Array())]);
      expect(timeToReceive(end, CODES.newBlock, encodeRlpList([block, Uint8Array.of(6)]))).toBeLessThan(
        LONGEST_MS,
      );
      const startMs = performance.now();
      expect(toy.blocks.map((announced) => announced.open())).toMatchObject([
        { ok: false, error: { code: "foreignBody" } },
      ]);
      expect(performance.now() - startMs).toBeLessThan(LONGEST_MS);
    });

    it("a body of a million transactions: decoding stops at the most that the gas limit allows", async () => {
      const toy = createToyEth();
      const end = await toy.connectReady(1);
      const answer = toy.eth.peers[0]?.requestBodies([toy.chain.head.hash]);
      const body = encodeRlpList([list(manyOf(TINY_TRANSACTION, 15 * MIB)), list(new Uint8Array())]);
      const { requestId } = end.last("getBlockBodies");
      expect(requestId).toBe(1n);
      timeToReceive(end, CODES.blockBodies, encodeRlpList([Uint8Array.of(1), encodeRlpList([body])]));
      expect(await answer).toMatchObject({ ok: false, error: { code: "badAnswer" } });
      expect(end.reason).toBe("breachOfProtocol");
    });

    it("one large transaction: it is accepted", async () => {
      const toy = createToyEth();
      const end = await toy.connectReady(1);
      const transaction = aTransaction({ data: new Uint8Array(3 * MIB) });
      end.send({ kind: "transactions", transactions: [transaction] });
      expect(toy.pool.offered).toHaveLength(1);
    });
  },
  IN_REAL_TIME,
);

/** A unique tiny transaction. */
function tiny(nonce: number): Uint8Array {
  return encodeRlpList([encodeRlpIndex(nonce + 1), TINY_TRANSACTION.subarray(2)]);
}

function list(content: Uint8Array): Uint8Array {
  return concatBytes(rlpPrefix(content.length, 0xc0), content);
}

function manyOf(unit: Uint8Array, bytes: number): Uint8Array {
  const many = new Uint8Array(Math.floor(bytes / unit.length) * unit.length);
  for (let at = 0; at < many.length; at += unit.length) many.set(unit, at);
  return many;
}

function receiptOfLogs(): Uint8Array {
  const log = encodeRlpList([encodeRlpString(new Uint8Array(20)), Uint8Array.of(0xc0), Uint8Array.of(0x80)]);
  const logs = list(manyOf(log, 100_000));
  return encodeRlpList([Uint8Array.of(1), Uint8Array.of(1), encodeRlpString(new Uint8Array(256)), logs]);
}
