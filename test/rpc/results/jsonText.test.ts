import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endOfString } from "../../../src/primitives/jsonText.ts";
import { SourceIds } from "../../../src/rpc/sourceIds.ts";

describe("the end of a string", () => {
  it("is found after escapes", () => {
    for (const text of ["", "a", 'a"b', "\\", 'x\\"', "\\\\", "☃\ud83d\ude00\n"]) {
      const json = JSON.stringify(text);
      expect(endOfString(`[${json},"next"]`, 1)).toBe(1 + json.length);
    }
  });
});

describe("an id as the caller wrote it", () => {
  const aNumberText = fc.oneof(
    fc.bigInt().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.constantFrom("1.50", "-0", "1e400", "-1E-7", "123456789012345678901234567890"),
  );
  const aPadding = fc.constantFrom("", " ", "\n\t", " \r\n ");
  /** Members that must not be taken for the id. */
  const anOther = fc.tuple(
    fc.string().filter((name) => name !== "id" && name !== "__proto__"),
    fc.oneof(
      fc.json(),
      fc.constantFrom('{"id":1}', '[{"id":2}]', '"\\"id\\":3"', '"{\\"id\\":4}"', '"id"', '["id",5]'),
    ),
  );

  const aRequest = fc
    .tuple(aNumberText, fc.constantFrom('"id"', '"\\u0069d"'), fc.array(anOther), fc.array(anOther), aPadding)
    .map(([id, name, before, after, padding]) => {
      const texts = (members: readonly (readonly [string, string])[]) =>
        members.map(([key, value]) => `${JSON.stringify(key)}${padding}:${padding}${value}`);
      const members = [...texts(before), `${name}${padding}:${padding}${id}`, ...texts(after)];
      return {
        id,
        json: `${padding}{${padding}${members.join(`${padding},${padding}`)}${padding}}${padding}`,
      };
    });

  it("is found in a single request", () => {
    fc.assert(
      fc.property(aRequest, ({ id, json }) => {
        JSON.parse(json);
        expect(new SourceIds(json, "single").at(0)).toBe(id);
      }),
    );
  });

  it("is found in each request of a batch, whatever stands between them", () => {
    const anElement = fc.oneof(
      aRequest,
      fc.json().map((json) => ({ id: undefined, json: `[${json}]` })),
      fc.constantFrom('"id"', "5", "null", '[{"id":6}]', "{}").map((json) => ({ id: undefined, json })),
    );
    fc.assert(
      fc.property(fc.array(anElement), (elements) => {
        const json = `[${elements.map((element) => element.json).join(",")}]`;
        const ids = new SourceIds(json, "batch");
        expect(elements.map((_, index) => ids.at(index))).toEqual(elements.map(({ id }) => id));
      }),
    );
  });

  it("is the last one when there are several, as for JSON.parse", () => {
    expect(new SourceIds('{"id":1.5,"id":"x","id":2.50}', "single").at(0)).toBe("2.50");
  });
});
