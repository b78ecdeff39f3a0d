import { describe, expect, it } from "vitest";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { bigintToBytes, bigintToFixedBytes, toQuantity } from "../../../src/primitives/quantity.ts";
import { AnswerText, memberName } from "../../../src/rpc/graphql/execution/answerText.ts";

const ITEM = JSON.stringify("é".repeat(1_000));

const NUMBERS = [
  0,
  1,
  15,
  16,
  255,
  256,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 53 - 1,
  0n,
  255n,
  2n ** 32n,
  2n ** 53n,
  2n ** 256n - 1n,
];

/** A tip can be negative. */
const NEGATIVE = [-1, -1n, -(2n ** 32n), -(2n ** 60n) - 1n];

/** A list of so many items, in an object. */
function aText(items: number): AnswerText {
  const text = new AnswerText();
  text.beginObject();
  text.name(memberName("list"));
  text.beginList();
  for (let n = 0; n < items; n++) text.json(ITEM);
  return text;
}

function ended(text: AnswerText): string {
  text.endList();
  text.endObject();
  return joinPieces(text.pieces());
}

describe("the text of an answer", () => {
  it("is kept in pieces of some size, however long its values are", () => {
    const text = aText(1_000);
    const lengths = text.pieces().map(({ length }) => length);
    expect(lengths.length).toBeGreaterThan(8);
    for (const length of lengths.slice(0, -1)) expect(length).toBeGreaterThan(144 * 1024);
    for (const length of lengths) expect(length).toBeLessThanOrEqual(192 * 1024);
    expect(JSON.parse(ended(text))).toEqual({ list: Array(1_000).fill(JSON.parse(ITEM)) });
  });

  it("has names, numbers and bytes of any length", () => {
    const lengths = [...Array(40).keys(), 127, 128, 129, 511, 512, 513, 70_000, 200_000];
    const text = new AnswerText();
    text.beginObject();
    for (const length of lengths) {
      text.name(memberName("n".repeat(length)));
      text.beginList();
      text.plain("p".repeat(length));
      text.data(new Uint8Array(length).fill(0xab));
      for (const _ of text.longData(new Uint8Array(length).fill(0xcd)));
      text.endList();
    }
    text.name(memberName("numbers"));
    text.beginList();
    for (const number of [...NUMBERS, ...NEGATIVE]) text.quantity(number);
    for (const number of NUMBERS) text.scalar(bigintToFixedBytes(BigInt(number), 32));
    for (const number of NUMBERS) text.scalar(bigintToBytes(BigInt(number)));
    text.endList();
    text.endObject();
    const shown = JSON.parse(joinPieces(text.pieces())) as Record<string, readonly string[]>;
    for (const length of lengths)
      expect(shown["n".repeat(length)]).toEqual([
        "p".repeat(length),
        `0x${"ab".repeat(length)}`,
        `0x${"cd".repeat(length)}`,
      ]);
    expect(shown["numbers"]).toEqual([...NUMBERS, ...NEGATIVE, ...NUMBERS, ...NUMBERS].map(toQuantity));
  });

  it("can be cut off anywhere before its end", () => {
    for (const before of [0, 1, 60, 100, 200]) {
      const text = aText(before);
      const mark = text.mark();
      for (let n = 0; n < 300; n++) text.json(ITEM);
      text.returnTo(mark);
      expect(text.length).toBe(aText(before).length);
      text.json("null");
      text.json("1");
      expect(JSON.parse(ended(text))).toEqual({ list: [...Array(before).fill(JSON.parse(ITEM)), null, 1] });
    }
  });
});
