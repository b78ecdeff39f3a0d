import { expect, it } from "vitest";
import { CODES } from "../../../src/network/eth/messages.ts";
import { concatBytes } from "../../../src/primitives/hex.ts";
import { encodeRlpIndex, encodeRlpList, encodeRlpString, rlpPrefix } from "../../../src/primitives/rlp.ts";
import { withoutBlobs } from "../../../src/types/blobWrapper.ts";
import { encodeHeader } from "../../../src/types/header.ts";
import { decodeTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { countedBytes } from "../../builders/countedBytes.ts";
import { itIfThorough } from "../../thorough.ts";
import { describeWithVectors } from "../../vectors.ts";
import { createToyEth } from "./toyEth.ts";

/** The smallest encoding that decodes as a transaction: ten bytes. */
const TINY_TRANSACTION = Uint8Array.of(0xc9, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x1b, 0x01, 0x01);
const MIB = 1024 ** 2;
/** Read of a message whose items stay unread. Without bounds most of these took 3 to 11 s, now some tens of ms. */
const FEW_BYTES = 1_000;
const BLOB_TRANSACTION = concatBytes(
  Uint8Array.of(3),
  list(concatBytes(Uint8Array.of(0xc0), new Uint8Array(10 * MIB - 100).fill(0x80))),
);

describeWithVectors("the largest messages of the smallest items", () => {
  const heavy: readonly (readonly [what: string, code: number, most: number, make: () => Uint8Array])[] = [
    [
      "unsolicited receipts",
      CODES.receipts,
      FEW_BYTES,
      () => encodeRlpList([Uint8Array.of(1), list(list(manyOf(receiptOfLogs(), 15 * MIB)))]),
    ],
    ["a million transactions", CODES.transactions, FEW_BYTES, () => list(manyOf(TINY_TRANSACTION, 10 * MIB))],
    [
      "several MiB of transactions",
      CODES.transactions,
      // The first of them.
      100_000 + FEW_BYTES,
      () =>
        encodeRlpList(Array.from({ length: 30 }, () => aTransaction({ data: new Uint8Array(100_000) }).raw)),
    ],
  ];
  it.each(heavy)("%s: the sender is disconnected", async (_, code, most, make) => {
    const end = await createToyEth().connectReady(1);
    const counted = countedBytes(make());
    end.sendBytes(code, counted.bytes);
    expect(counted.reads).toBeLessThan(most);
    expect(end.reason).toBe("breachOfProtocol");
  });

  itIfThorough(
    "a blob transaction with ten million attachments: they stay unread, and the sender is disconnected",
    async () => {
      const end = await createToyEth().connectReady(1);
      end.sendBytes(CODES.transactions, encodeRlpList([encodeRlpString(BLOB_TRANSACTION)]));
      expect(end.reason).toBe("breachOfProtocol");
      const counted = countedBytes(BLOB_TRANSACTION);
      expect(decodeTransaction(withoutBlobs(counted.bytes)).ok).toBe(false);
      expect(counted.reads).toBeLessThan(FEW_BYTES);
    },
  );

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
    const counted = countedBytes(encodeRlpList([block, Uint8Array.of(6)]));
    end.sendBytes(CODES.newBlock, counted.bytes);
    expect(toy.blocks.map((announced) => announced.open())).toMatchObject([
      { ok: false, error: { code: "foreignBody" } },
    ]);
    expect(counted.reads).toBeLessThan(2 * FEW_BYTES);
  });

  it("a body of a million transactions: decoding stops at the most that the gas limit allows", async () => {
    const toy = createToyEth();
    const end = await toy.connectReady(1);
    const answer = toy.eth.peers[0]?.requestBodies([toy.chain.head.hash]);
    const body = encodeRlpList([list(manyOf(TINY_TRANSACTION, 15 * MIB)), list(new Uint8Array())]);
    const { requestId } = end.last("getBlockBodies");
    expect(requestId).toBe(1n);
    end.sendBytes(CODES.blockBodies, encodeRlpList([Uint8Array.of(1), encodeRlpList([body])]));
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
});

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
