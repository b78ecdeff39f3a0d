import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Json, jsonTextOf, parseJson } from "../../src/chainspec/json.ts";
import { casesOf } from "../thorough.ts";

/** The document as JSON.parse would give it, numbers as their text. */
function plain(json: Json): unknown {
  switch (json.kind) {
    case "object":
      return Object.fromEntries(json.members.map(({ key, value }) => [key, plain(value)]));
    case "array":
      return json.items.map(plain);
    case "string":
      return json.text;
    case "number":
      return { number: json.text };
    case "boolean":
      return json.value;
    case "null":
      return null;
  }
}

function numbersAsText(value: unknown): unknown {
  if (typeof value === "number") return { number: JSON.stringify(value) };
  if (Array.isArray(value)) return value.map(numbersAsText);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, numbersAsText(each)]));
  }
  return value;
}

describe("JSON with offsets", () => {
  it("reads all of JSON as JSON.parse does", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ noUnicodeString: false }),
        fc.constantFrom(undefined, 2, "\t"),
        (value, indent) => {
          const text = JSON.stringify(value, undefined, indent);
          const outcome = parseJson(text);
          expect(outcome.ok && plain(outcome.value)).toEqual(numbersAsText(JSON.parse(text)));
        },
      ),
    );
  });

  it("never accepts what JSON.parse refuses, comments aside", () => {
    const pieces = fc.array(
      fc.constantFrom(
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        '"a"',
        '"',
        "1",
        "-",
        "01",
        "1.",
        "true",
        "nul",
        " ",
        "\\",
        "\n",
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join("");
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect(parseJson(text).ok).toBe(isJson);
      }),
      { numRuns: casesOf(5000) },
    );
  });

  it("skips comments of both kinds, and keeps numbers exact", () => {
    const text = '// a\n{ /* b */ "x": 123456789012345678901, // c\n "y": "// no /* comment */" } /**/ // d';
    const outcome = parseJson(text);
    expect(outcome.ok && plain(outcome.value)).toEqual({
      x: { number: "123456789012345678901" },
      y: "// no /* comment */",
    });
  });

  it.each([
    ["", "a value is expected, not the end of the file at line 1, column 1"],
    ['{\n  "a": 1,\n}', "a key in double quotes is expected, not '}' at line 3, column 1"],
    ['{"a" 1}', "':' is expected after the key \"a\", not '1' at line 1, column 6"],
    ['{"a":1 "b":2}', "',' or '}' is expected, not '\"' at line 1, column 8"],
    ["[1,\n 2", "',' or ']' is expected, not the end of the file at line 2, column 3"],
    ['{"a": tru}', "a value is expected, not 't' at line 1, column 7"],
    ['{"a": 0x10}', "',' or '}' is expected, not 'x' at line 1, column 8"],
    ['["a', "a string that does not end at line 1, column 2"],
    ['["a\nb"]', "a string with a line break or a wrong escape in it at line 1, column 2"],
    ["/* never ends", "a value is expected, not '/' at line 1, column 1"],
    ["{} {}", "unexpected '{' after the end of the document at line 1, column 4"],
    ["[".repeat(100), "more than 64 levels of nesting at line 1, column 65"],
  ])("refuses %j with its position", (text, message) => {
    expect(parseJson(text)).toMatchObject({ ok: false, error: { code: "malformedJson", message } });
  });

  it("reads a string of millions of characters, and refuses an unterminated one, without delay", () => {
    const long = "a".repeat(5_000_000);
    expect(parseJson(`["${long}"]`).ok).toBe(true);
    expect(parseJson(`["${long}`).ok).toBe(false);
  });
});

describe("a file of JSON", () => {
  const text = '{ "name": "Zürich" }';
  const littleEndian = Buffer.from(text, "utf16le");
  const bigEndian = Buffer.from(littleEndian).swap16();

  it.each([
    ["UTF-8", Buffer.from(text)],
    ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${text}`)],
    ["UTF-16 as PowerShell writes it", Buffer.concat([Buffer.from([0xff, 0xfe]), littleEndian])],
    ["UTF-16 of the other order", Buffer.concat([Buffer.from([0xfe, 0xff]), bigEndian])],
    ["UTF-16 without a byte order mark", littleEndian],
    ["UTF-16 of the other order without one", bigEndian],
    ["UTF-16 with half a character at the end", Buffer.concat([bigEndian, Buffer.from([0])])],
  ])("may be %s", (_encoding, bytes) => {
    const json = parseJson(jsonTextOf(bytes));
    expect(json.ok && plain(json.value)).toEqual({ name: "Zürich" });
  });

  it("may be empty", () => {
    expect(jsonTextOf(Buffer.alloc(0))).toBe("");
  });
});
