import { expect, it } from "vitest";
import { CODES } from "../../../src/network/eth/message.ts";
import { concatBytes } from "../../../src/primitives/hex.ts";
import { encodeRlpList, encodeRlpString, rlpPrefix } from "../../../src/primitives/rlp.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { describeWithVectors } from "../../vectors.ts";
import { createToyEth, type OtherEnd } from "./toyEth.ts";

/** The smallest that can be read as a transaction: ten bytes. */
const TINY_TRANSACTION = Uint8Array.of(0xc9, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x1b, 0x01, 0x01);
const MIB = 1024 ** 2;

describeWithVectors("messages as large as can be, of items as small as can be", () => {
  /** How long the thread is kept. Most of these took seconds; the bound leaves room for a busy machine. */
  function heard(end: OtherEnd, code: number, payload: Uint8Array): number {
    const startMs = performance.now();
    end.sayBytes(code, payload);
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
      "receipts that nobody asked for",
      CODES.receipts,
      () => encodeRlpList([Uint8Array.of(1), list(list(manyOf(receiptOfLogs(), 15 * MIB)))]),
    ],
    ["a million transactions", CODES.transactions, () => list(manyOf(TINY_TRANSACTION, 10 * MIB))],
    [
      "several MiB of transactions",
      CODES.transactions,
      () =>
        encodeRlpList(Array.from({ length: 30 }, () => aTransaction({ data: new Uint8Array(100_000) }).raw)),
    ],
  ];
  it.each(heavy)("%s: whoever sends it goes", async (_, code, make) => {
    const end = await createToyEth().befriend(1);
    expect(heard(end, code, make())).toBeLessThan(500);
    expect(end.reason).toBe("breachOfProtocol");
  });

  it("many tiny transactions: no more of them are read than a usual message has", async () => {
    const toy = createToyEth();
    const end = await toy.befriend(1);
    const payload = list(manyOf(TINY_TRANSACTION, MIB));
    expect(heard(end, CODES.transactions, payload)).toBeLessThan(500);
    expect([toy.pool.offered.length, end.reason]).toEqual([1, undefined]);
  });

  it("one large transaction: it is taken", async () => {
    const toy = createToyEth();
    const end = await toy.befriend(1);
    const transaction = aTransaction({ data: new Uint8Array(3 * MIB) });
    end.say({ kind: "transactions", transactions: [transaction] });
    expect(toy.pool.offered).toHaveLength(1);
  });
});

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
