import { describe, expect, it } from "vitest";
import { seal, unseal } from "../../src/workers/sealed.ts";

const VALUE = {
  kind: "call",
  value: 2n ** 70n,
  data: Uint8Array.of(1, 2),
  from: undefined,
  list: [{ slot: Uint8Array.of(3) }],
};

describe("a sealed value", () => {
  it("is one piece of memory, from which the value is read again", () => {
    const sealed = seal(VALUE);
    expect(sealed.sealed).toBeInstanceOf(Uint8Array);
    expect(unseal(structuredClone(sealed))).toEqual(VALUE);
    expect(unseal(VALUE)).toBe(VALUE);
  });

  it("is refused where it is nested too deeply", () => {
    let deep: object = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(() => seal(deep)).toThrow(RangeError);
  });
});
