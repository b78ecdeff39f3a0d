import { describe, expect, it } from "vitest";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { AnswerText, nameOf } from "../../../src/rpc/graphql/execution/answerText.ts";

const ITEM = JSON.stringify("é".repeat(1_000));

/** A list of so many items, in an object. */
function aText(items: number): AnswerText {
  const text = new AnswerText();
  text.beginObject();
  text.name(nameOf("list"));
  text.beginList();
  for (let n = 0; n < items; n++) text.value(ITEM);
  return text;
}

function ended(text: AnswerText): string {
  text.endList();
  text.endObject();
  return joinPieces(text.pieces());
}

describe("the text of an answer", () => {
  it("is kept as bytes, but for its end", () => {
    const text = aText(1_000);
    const strings = text.pieces().filter((piece) => typeof piece === "string");
    expect(strings).toHaveLength(1);
    expect(strings[0]?.length).toBeLessThan(64 * 1024);
    expect(JSON.parse(ended(text))).toEqual({ list: Array(1_000).fill(JSON.parse(ITEM)) });
  });

  it("can be cut off anywhere before its end", () => {
    for (const before of [0, 1, 60, 100, 200]) {
      const text = aText(before);
      const mark = text.mark();
      for (let n = 0; n < 300; n++) text.value(ITEM);
      text.returnTo(mark);
      expect(text.length).toBe(aText(before).length);
      text.value("null");
      text.value("1");
      expect(JSON.parse(ended(text))).toEqual({ list: [...Array(before).fill(JSON.parse(ITEM)), null, 1] });
    }
  });
});
