import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { type JsonWriter, jsonText } from "../../src/primitives/jsonWriter.ts";
import { toQuantity } from "../../src/primitives/quantity.ts";

type Value = Uint8Array | bigint | boolean | null | { readonly [name: string]: Value };

const { value: anyValue } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.uint8Array({ maxLength: 300 }),
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    fc.boolean(),
    fc.constant(null),
    fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,12}$/), tie("value"), { maxKeys: 5 }),
  ),
}));

function write(writer: JsonWriter, name: string, value: Value): void {
  if (value instanceof Uint8Array) writer.data(name, value);
  else if (typeof value === "bigint") writer.quantity(name, value);
  else if (typeof value === "boolean") writer.boolean(name, value);
  else if (value === null) writer.null(name);
  else {
    writer.beginObject(name);
    for (const [member, each] of Object.entries(value)) write(writer, member, each);
    writer.endObject();
  }
}

/** The same value as input of JSON.stringify. */
function plain(value: Value): unknown {
  if (value instanceof Uint8Array) return toHex(value);
  if (typeof value === "bigint") return toQuantity(value);
  if (typeof value === "boolean" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

describe("the JSON writer", () => {
  it("writes what JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,12}$/), anyValue), (members) => {
        const text = jsonText((writer) => {
          writer.beginObject();
          for (const [name, value] of Object.entries(members)) write(writer, name, value);
          writer.endObject();
        });
        expect(text).toBe(JSON.stringify(plain(members)));
      }),
    );
  });

  it("separates items of lists, and accepts members that are JSON already", () => {
    const text = jsonText((writer) => {
      writer.beginObject();
      writer.members('"a":1,"b":2');
      writer.beginList("list");
      writer.dataItem(Uint8Array.of(1));
      writer.dataItem(Uint8Array.of());
      writer.beginObject();
      writer.endObject();
      writer.endList();
      writer.beginList("empty");
      writer.endList();
      writer.endObject();
    });
    expect(text).toBe('{"a":1,"b":2,"list":["0x01","0x",{}],"empty":[]}');
  });

  it("grows with the text, and starts empty each time", () => {
    const large = new Uint8Array(5_000_000).fill(0xab);
    const written = jsonText((writer) => writer.dataItem(large));
    expect(written).toHaveLength(2 * large.length + 4);
    expect(written.endsWith('abab"')).toBe(true);
    expect(jsonText((writer) => writer.dataItem(Uint8Array.of(7)))).toBe('"0x07"');
  });

  it("refuses nested calls, and discards a text that failed", () => {
    expect(() => jsonText(() => jsonText(() => undefined))).toThrow("one JSON text");
    const failing = (writer: JsonWriter): void => {
      writer.beginObject();
      throw new Error("half-way");
    };
    expect(() => jsonText(failing)).toThrow("half-way");
    expect(jsonText((writer) => writer.null("a"))).toBe('"a":null');
  });
});
