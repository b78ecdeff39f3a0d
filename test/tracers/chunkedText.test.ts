import fc from "fast-check";
import { expect, it } from "vitest";
import { joinPieces } from "../../src/primitives/jsonPieces.ts";
import { ChunkedText } from "../../src/tracers/chunkedText.ts";

/** A part of a text: added, taken from another text that was marked at its start or not, or long. */
const PART = fc.record({
  text: fc.string({ unit: "grapheme-ascii", maxLength: 20 }),
  times: fc.constantFrom(1, 100, 8_000),
  as: fc.constantFrom("added", "taken", "inserted" as const),
});

it("gives the whole text in pieces that can be handed to another thread, short ones only where there is no more", () => {
  fc.assert(
    fc.property(fc.array(PART, { maxLength: 20 }), (parts) => {
      const text = new ChunkedText();
      const marks: (readonly [mark: number, text: string])[] = [];
      for (const { text: unit, times, as } of parts) {
        const part = unit.repeat(times);
        const other = new ChunkedText();
        if (as === "added") text.add(part);
        else if (as === "inserted") marks.push([text.mark(), part]);
        else {
          other.add(part);
          text.take(other);
        }
      }
      for (const [mark, part] of marks) text.insert(mark, part);
      const whole = parts.map(({ text: unit, times }) => unit.repeat(times)).join("");
      const pieces = text.takePieces();
      expect(joinPieces(pieces)).toBe(whole);
      expect(text.isEmpty).toBe(true);
      expect(pieces.every(({ buffer, length }) => buffer.byteLength === length)).toBe(true);
      const isShort = pieces.map(({ length }) => length < 64 * 1024);
      expect(isShort.filter((short, index) => short && isShort[index + 1] === true)).toEqual([]);
      const received = structuredClone(pieces, { transfer: pieces.map(({ buffer }) => buffer) });
      expect(pieces.every(({ length }) => length === 0)).toBe(true);
      expect(joinPieces(received)).toBe(whole);
    }),
    { numRuns: 50 },
  );
});
