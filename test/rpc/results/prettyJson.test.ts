import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prettyJson, prettySlices } from "../../../src/rpc/results/prettyJson.ts";

describe("pretty JSON", () => {
  it("parses to the same value", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(JSON.parse(prettyJson(json))).toEqual(JSON.parse(json));
      }),
    );
  });

  it("is formatted as in Besu", () => {
    expect(prettyJson('{"a":1,"b":[1,"x,{}",[]],"c":{},"d":{"e":null}}')).toBe(
      '{\n  "a" : 1,\n  "b" : [ 1, "x,{}", [ ] ],\n  "c" : { },\n  "d" : {\n    "e" : null\n  }\n}',
    );
  });

  it("does not depend on how the text is cut, as text or as bytes", () => {
    const aText = fc.oneof(
      fc.json(),
      fc.constant('{"a":{},"\\\\":["\\"{","\\\\"],"b":[[],-1.50,{"☃":"\ud83d\ude00"}]}'),
    );
    const aCut = fc.array(fc.tuple(fc.nat(12), fc.boolean()));
    fc.assert(
      fc.property(aText, aCut, (json, cuts) => {
        const characters = [...json];
        const pieces = cuts.map(([length, isBytes]) => {
          const text = characters.splice(0, length).join("");
          return isBytes ? Buffer.from(text) : text;
        });
        const slices = prettySlices([...pieces, characters.join("")]);
        expect([...slices].join("")).toBe(prettyJson(json));
      }),
    );
  });

  it("is produced in slices, also from bytes, none of which ends within a character", () => {
    const text = JSON.stringify(Array.from({ length: 100_000 }, () => "\ud83d\ude00☃"));
    const slices = [...prettySlices([Buffer.from(text)])];
    expect(slices.length).toBeGreaterThan(3);
    expect(slices.join("") === prettyJson(text)).toBe(true);
  });
});
