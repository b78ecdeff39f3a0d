import { describe, expect, it } from "vitest";
import { JsonTexts, TOO_LONG } from "../../../src/rpc/server/jsonTexts.ts";

const LIMIT = 4096;

/** All texts of a stream that comes in these pieces. */
function textsOf(...pieces: readonly (string | Buffer)[]): unknown[] {
  const texts = new JsonTexts(LIMIT);
  return pieces.flatMap((piece) => {
    texts.add(Buffer.from(piece));
    const found: unknown[] = [];
    for (let text = texts.next(); text !== undefined; text = texts.next()) {
      found.push(text);
      if (text === TOO_LONG) break;
    }
    return found;
  });
}

describe("a stream of JSON texts", () => {
  it.each<readonly [name: string, stream: string, texts: readonly string[]]>([
    ["an object", '{"a":1}', ['{"a":1}']],
    ["a list", '[{"a":[]},[2]]', ['[{"a":[]},[2]]']],
    ["objects without anything between them", '{"a":1}{"b":2}[3]', ['{"a":1}', '{"b":2}', "[3]"]],
    ["objects on lines", '{"a":1}\r\n\n {"b":2}\n', ['{"a":1}', '{"b":2}']],
    ["brackets in strings", '{"a":"}]{","b":"["}{}', ['{"a":"}]{","b":"["}', "{}"]],
    ["escaped quotes and backslashes", '{"a":"\\"}\\\\"}{}', ['{"a":"\\"}\\\\"}', "{}"]],
    ["many backslashes", '{"a":"\\\\\\\\"}["\\\\\\"]"]{}', ['{"a":"\\\\\\\\"}', '["\\\\\\"]"]', "{}"]],
    ["characters of several bytes", '{"a":"zażółć 😀"}[]', ['{"a":"zażółć 😀"}', "[]"]],
    ["brackets that do not match", '{"a":]{}', ['{"a":]', "{}"]],
    ["an object over several lines", '{\n"a":\n1}\n{}', ['{\n"a":\n1}', "{}"]],
    ["white space alone", " \n\t\r ", []],
  ])("is cut into its texts, wherever its pieces end: %s", (_name, stream, texts) => {
    const bytes = Buffer.from(stream);
    expect(textsOf(bytes)).toEqual(texts);
    expect(textsOf(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(texts);
    for (let at = 0; at <= bytes.length; at++)
      expect(textsOf(bytes.subarray(0, at), bytes.subarray(at))).toEqual(texts);
  });

  it("passes on what is no list or object by lines, and goes on behind it", () => {
    expect(textsOf('hello {"a":1}\n{"b":2}')).toEqual(['hello {"a":1}', '{"b":2}']);
    expect(textsOf("5", '{"b":2}')).toEqual(["5", '{"b":2}']);
    expect(textsOf("}}\n[]")).toEqual(["}}", "[]"]);
  });

  it("has a limit for each text, whether or not its end has come", () => {
    const longest = `["${"x".repeat(LIMIT - 4)}"]`;
    expect(longest).toHaveLength(LIMIT);
    expect(textsOf(longest, longest + longest)).toEqual([longest, longest, longest]);
    expect(textsOf(`[1${longest}]`)).toEqual([TOO_LONG]);
    expect(textsOf(...Array(LIMIT + 1).fill("["))).toEqual([TOO_LONG]);
  });

  it("says whether a text has begun and not ended", () => {
    const texts = new JsonTexts(LIMIT);
    const isPartialAfter = (piece: string): boolean => {
      texts.add(Buffer.from(piece));
      while (texts.next() !== undefined);
      return texts.isPartial;
    };
    expect(['{"a":', '"}', '"}', "\n", "5", "["].map(isPartialAfter)).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
    ]);
  });
});
