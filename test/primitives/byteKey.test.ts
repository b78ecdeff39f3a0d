import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOfKey, toKey } from "../../src/primitives/byteKey.ts";
import { equalBytes } from "../../src/primitives/hex.ts";

const address = fc.uint8Array({ minLength: 20, maxLength: 20 });
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const other = fc.uint8Array({ maxLength: 70, size: "max" });
/** Bytes whose pairs are the digits of other bytes. */
const digits = fc
  .stringMatching(/^[0-9a-f]{10}$/)
  .map((text) => Uint8Array.from(Buffer.from(text, "utf16le").swap16()));
const any = fc.oneof(address, hash, other, digits);

describe("the key of bytes", () => {
  it("converts back to the bytes", () => {
    fc.assert(fc.property(any, (bytes) => equalBytes(bytesOfKey(toKey(bytes)), bytes)));
  });

  it("is the same for equal bytes only, of any length", () => {
    fc.assert(
      fc.property(any, any, (a, b) => {
        expect(toKey(Uint8Array.from(a))).toBe(toKey(a));
        expect(toKey(a) === toKey(b)).toBe(equalBytes(a, b));
      }),
    );
  });

  it("differs when one byte differs", () => {
    fc.assert(
      fc.property(
        fc.oneof(address, hash),
        fc.nat({ max: 31 }),
        fc.integer({ min: 1, max: 255 }),
        (bytes, at, flip) => {
          const changed = Uint8Array.from(bytes);
          changed[at % bytes.length] = (changed[at % bytes.length] as number) ^ flip;
          expect(toKey(changed)).not.toBe(toKey(bytes));
        },
      ),
    );
  });
});
