import { RLP } from "@ethereumjs/rlp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import {
  encodeRlpIndex,
  encodeRlpList,
  encodeRlpString,
  readRlp,
  readRlpList,
} from "../../src/primitives/rlp.ts";
import { nestedLists } from "../builders/nestedLists.ts";
import { IN_REAL_TIME } from "../realTime.ts";

const { item } = fc.letrec<{ item: unknown; list: unknown[]; bytes: Uint8Array }>((tie) => ({
  item: fc.oneof({ maxDepth: 3 }, tie("bytes"), tie("list")),
  list: fc.array(tie("item"), { maxLength: 5 }),
  bytes: fc.oneof(fc.uint8Array({ maxLength: 70 }), fc.uint8Array({ minLength: 1, maxLength: 1 })),
}));
const anyList = fc.array(item, { maxLength: 12 }).map((members) => RLP.encode(members as Uint8Array[]));

describe("writing RLP from encoded parts", () => {
  it("agrees with the library for strings, lists and indexes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }), (strings) => {
        expect(toHex(encodeRlpList(strings.map(encodeRlpString)))).toBe(toHex(RLP.encode(strings)));
      }),
    );
    for (const index of [0, 1, 127, 128, 255, 256, 65_535, 65_536, 2 ** 40]) {
      expect(toHex(encodeRlpIndex(index))).toBe(toHex(RLP.encode(index)));
    }
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
      { numRuns: 2000 },
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

  it("refuses extremely nested lists of an untrusted peer quickly", IN_REAL_TIME, () => {
    const bytes = nestedLists(2_000_000);
    const startedAtMs = performance.now();
    expect(() => readRlp(bytes, 3)).toThrow("a list is nested too deep");
    expect(performance.now() - startedAtMs).toBeLessThan(100);
  });
});
