import { describe, expect, it } from "vitest";
import { compressSnappy, compressSnappyInSteps, uncompressSnappy } from "../../../src/network/rlpx/snappy.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { countedBytes } from "../../builders/countedBytes.ts";
import { countSteps } from "../../primitives/countSteps.ts";
import { describeWithVectors, readVectorBytes, readVectorJson } from "../../vectors.ts";

const LARGEST = 0xff_ff_fe;

describe("snappy", () => {
  it.each([0, 1, 59, 60, 61, 1000, 65_536, 200_000])("restores %i bytes that it compressed", (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * index) >> 7);
    const back = uncompressSnappy(compressSnappy(bytes), LARGEST);
    expect(back.ok && Buffer.compare(back.value, bytes)).toBe(0);
  });

  it.each([1, 2, 3, 7, 32, 63, 64, 65, 200, 2000])("restores runs that repeat every %i bytes", (period) => {
    const lengths = [64, 65, 500, 512, 513, 1000, 4097, 100_001];
    const runs = lengths.map((length, run) =>
      Uint8Array.from({ length }, (_, index) => (((index % period) * 31) ^ (run * 7)) & 0xff),
    );
    const bytes = Buffer.concat(runs);
    const back = uncompressSnappy(compressSnappy(bytes), LARGEST);
    expect(back.ok && Buffer.compare(back.value, bytes)).toBe(0);
  });

  it("takes copies of several lengths and one offset for one run, and refuses those that end too late", () => {
    const lengths = [64, 5, ...Array<number>(20).fill(64), 1, 64];
    const total = 3 + lengths.reduce((sum, length) => sum + length, 0);
    const copies = lengths.flatMap((length) => [((length - 1) << 2) | 2, 3, 0]);
    const elements = [2 << 2, 10, 11, 12, ...copies];
    const sized = (length: number): Uint8Array =>
      Uint8Array.of((length & 0x7f) | 0x80, length >> 7, ...elements);
    const back = uncompressSnappy(sized(total), LARGEST);
    expect(back).toEqual({ ok: true, value: Uint8Array.from({ length: total }, (_, at) => 10 + (at % 3)) });
    expect(uncompressSnappy(sized(total - 1), LARGEST).ok).toBe(false);
    expect(uncompressSnappy(sized(total + 1), LARGEST).ok).toBe(false);
    expect(uncompressSnappy(sized(total).slice(0, -1), LARGEST).ok).toBe(false);
  });

  it("compresses a long message in steps as at once, and then has the form when it is sent", () => {
    const bytes = Uint8Array.from({ length: 1_000_000 }, (_, index) => (index * index) >> 7);
    const atOnce = compressSnappy(bytes.slice());
    const { pauses } = countSteps(compressSnappyInSteps(bytes));
    expect(pauses).toBeGreaterThan(1_000_000 / 65_536);
    const sent = compressSnappy(bytes);
    expect(Buffer.compare(sent, atOnce)).toBe(0);
    expect(countSteps(compressSnappyInSteps(bytes)).pauses).toBe(0);
  });

  it("decodes a hundred thousand one-byte literals in one pass, without a view of each", () => {
    const count = 2 ** 17 - 1;
    const pieces = new Uint8Array(3 + 2 * count).fill(7);
    for (let at = 3; at < pieces.length; at += 2) pieces[at] = 0;
    pieces.set([0xff, 0xff, 0x07]);
    const counted = countedBytes(pieces);
    const read = uncompressSnappy(counted.bytes, LARGEST);
    expect(read.ok && read.value.length).toBe(count);
    expect([counted.reads, counted.views]).toEqual([pieces.length, 0]);
  });

  it("encodes the empty list of a Ping as Besu does", () => {
    expect(toHex(compressSnappy(Uint8Array.of(0xc0)))).toBe("0x0100c0");
  });

  it.each([
    ["longer than the limit", "0xffffff07", "16777215 bytes are more than 16777214"],
    ["a length that so few bytes cannot have", "0xfeffff0700", "its length cannot be true"],
    ["4 GiB", "0xffffffff0f00", "4294967295 bytes are more than 16777214"],
    ["more than 32 bits", "0xffffffff1f00", "its length is not readable"],
    ["an endless length", "0xffffffffffffffff", "its length is not readable"],
    ["nothing", "0x", "its length is not readable"],
    ["less than announced", "0x0400aa", "an element is wrong"],
    ["more than announced", "0x0104aabb", "an element is wrong"],
  ])("refuses %s", (_, hex, message) => {
    expect(uncompressSnappy(hexToBytes(hex), LARGEST)).toMatchObject({ ok: false, error: { message } });
  });
});

describeWithVectors("snappy's own vectors", () => {
  const { cases } = readVectorJson<{
    cases: readonly { desc: string; input: string; output?: string; error?: boolean }[];
  }>("devp2p", "snappy", "block-format.json");

  it.each(cases)("$desc", ({ input, output }) => {
    const read = uncompressSnappy(hexToBytes(input), LARGEST);
    expect(read.ok ? toHex(read.value) : undefined).toBe(output);
  });

  it("reads a long text", () => {
    const text = readVectorBytes("devp2p", "snappy", "Isaac.Newton-Opticks.txt");
    const read = uncompressSnappy(
      readVectorBytes("devp2p", "snappy", "Isaac.Newton-Opticks.txt.rawsnappy"),
      LARGEST,
    );
    expect(read).toEqual({ ok: true, value: text });
  });

  it.each(["baddata1.snappy", "baddata2.snappy", "baddata3.snappy"])("refuses %s", (file) => {
    expect(uncompressSnappy(readVectorBytes("devp2p", "snappy", file), LARGEST).ok).toBe(false);
  });
});
