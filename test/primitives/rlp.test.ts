import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import {
  encodeRlp,
  encodeRlpIndex,
  encodeRlpList,
  encodeRlpString,
  type RlpItem,
  readRlp,
  readRlpList,
  readRlpString,
} from "../../src/primitives/rlp.ts";
import { countedBytes } from "../builders/countedBytes.ts";
import { nestedLists } from "../builders/nestedLists.ts";
import { casesOf } from "../thorough.ts";

const { item } = fc.letrec<{ item: unknown; list: unknown[]; bytes: Uint8Array }>((tie) => ({
  item: fc.oneof({ maxDepth: 3 }, tie("bytes"), tie("list")),
  list: fc.array(tie("item"), { maxLength: 5 }),
  bytes: fc.oneof(fc.uint8Array({ maxLength: 70 }), fc.uint8Array({ minLength: 1, maxLength: 1 })),
}));
const anyItem = item.map((any) => RLP.encode(any as Uint8Array[]));
const anyList = fc.array(item, { maxLength: 12 }).map((members) => RLP.encode(members as Uint8Array[]));

describe("writing RLP from encoded parts", () => {
  it("agrees with the library for strings, lists and indexes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (strings) => {
        expect(toHex(encodeRlpList(strings.map(encodeRlpString)))).toBe(toHex(RLP.encode(strings)));
      }),
    );
    for (const length of [55, 56, 255, 256, 65_535, 65_536, 2 ** 24]) {
      const long = new Uint8Array(length).fill(7);
      expect(Buffer.compare(encodeRlpString(long), RLP.encode(long))).toBe(0);
      expect(Buffer.compare(encodeRlpList([encodeRlpString(long)]), RLP.encode([long]))).toBe(0);
    }
    for (const index of [0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 40]) {
      expect(toHex(encodeRlpIndex(index))).toBe(toHex(RLP.encode(index)));
    }
  });
});

describe("writing RLP of whole items", () => {
  it("agrees with the library for items of any shape", () => {
    fc.assert(
      fc.property(item as fc.Arbitrary<RlpItem>, (any) => {
        expect(toHex(encodeRlp(any))).toBe(toHex(RLP.encode(any as Uint8Array[])));
      }),
    );
  });
});

describe("reading RLP one level deep", () => {
  it("finds the members that the library finds", () => {
    fc.assert(
      fc.property(anyList, (bytes) => {
        const members = RLP.decode(bytes) as unknown[];
        const spans = readRlpList(bytes);
        const encodings = spans.map(({ isList, start, from, until }) =>
          isList ? toHex(bytes.subarray(start, until)) : toHex(RLP.encode(bytes.subarray(from, until))),
        );
        expect(encodings).toEqual(members.map((member) => toHex(RLP.encode(member as Uint8Array))));
      }),
    );
  });

  it("never accepts a member that the library refuses", () => {
    fc.assert(
      fc.property(
        anyList,
        fc.nat(),
        fc.integer({ min: 0, max: 255 }),
        fc.boolean(),
        (whole, at, byte, cut) => {
          const bytes = cut ? whole.slice(0, at % (whole.length + 1)) : whole.slice();
          if (bytes.length > 0) bytes[at % bytes.length] = byte;
          let spans: ReturnType<typeof readRlpList>;
          try {
            spans = readRlpList(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
            return;
          }
          for (const { isList, start, until } of spans) if (!isList) RLP.decode(bytes.subarray(start, until));
        },
      ),
      { numRuns: casesOf(2000) },
    );
  });

  it.each([
    ["nothing", ""],
    ["a string", "83646f67"],
    ["bytes after the list", "c000"],
    ["a list cut short", "c28080".slice(0, 4)],
    ["a member beyond its list", "c283"],
    ["a single byte with a prefix", "c28101"],
    ["a long form for a short string", "c3b80180"],
    ["a length with a leading zero", "f90001c0"],
  ])("refuses %s", (_, hex) => {
    expect(() => readRlpList(Uint8Array.from(Buffer.from(hex, "hex")))).toThrow(RangeError);
  });
});

describe("reading RLP up to a given depth", () => {
  function outcomeOf(decode: () => unknown): unknown {
    try {
      return decode();
    } catch {
      return "refused";
    }
  }

  /** Nesting depth of an item. */
  function depthOf(decoded: unknown): number {
    return Array.isArray(decoded) ? 1 + Math.max(0, ...decoded.map(depthOf)) : 0;
  }

  it("decodes as the library does, and refuses a list beyond the depth", () => {
    fc.assert(
      fc.property(anyList, (bytes) => {
        const decoded = RLP.decode(bytes);
        const depth = depthOf(decoded);
        expect(RLP.encode(readRlp(bytes, depth) as Uint8Array[])).toEqual(bytes);
        expect(readRlp(bytes, depth)).toEqual(decoded);
        expect(() => readRlp(bytes, depth - 1)).toThrow(RangeError);
      }),
    );
  });

  it("accepts exactly what the library accepts, and nothing instead of an item", () => {
    const damagedItem = fc.tuple(
      anyItem,
      fc.nat(),
      fc.nat({ max: 255 }),
      fc.constantFrom("cut", "set", "add"),
    );
    const counts = { accepted: 0, refused: 0 };
    const expectAsLibrary = (bytes: Uint8Array): void => {
      const expected = outcomeOf(() => RLP.decode(bytes));
      expect(outcomeOf(() => readRlp(bytes, 100))).toEqual(expected);
      expect(outcomeOf(() => readRlpString(bytes))).toEqual(Array.isArray(expected) ? "refused" : expected);
      counts[expected === "refused" ? "refused" : "accepted"]++;
    };
    fc.assert(
      fc.property(damagedItem, ([whole, at, byte, how]) => {
        const bytes = how === "add" ? Uint8Array.of(...whole, byte) : whole.slice();
        if (how === "set") bytes[at % bytes.length] = byte;
        expectAsLibrary(how === "cut" ? bytes.slice(0, 1 + (at % bytes.length)) : bytes);
      }),
      { numRuns: 3000 },
    );
    for (let lead = 0; lead < 256; lead++) {
      for (const second of [0x00, 0x01, 0x37, 0x38, 0x7f, 0x80, 0xff]) {
        for (const rest of [0, 1, 54, 55, 56, 57, 127]) {
          expectAsLibrary(Uint8Array.of(lead, second, ...new Uint8Array(rest)));
        }
      }
    }
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(500);
    expect(() => readRlp(new Uint8Array(), 100)).toThrow(RangeError);
    expect(() => readRlpString(new Uint8Array())).toThrow(RangeError);
  });

  it("refuses extremely nested lists of an untrusted peer after the prefixes of as many as are allowed", () => {
    const counted = countedBytes(nestedLists(2_000_000));
    expect(() => readRlp(counted.bytes, 3)).toThrow("a list is nested too deep");
    expect(counted.reads).toBeLessThan(50);
  });
});
