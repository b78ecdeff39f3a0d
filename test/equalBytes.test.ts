import { describe, expect, it } from "vitest";

const bytes = Uint8Array.of(1, 2, 3);
const same = Uint8Array.of(1, 2, 3);

describe("arrays of bytes in a test", () => {
  it("are equal when they hold the same bytes, wherever they are in a value", () => {
    expect(bytes).toEqual(same);
    expect({ a: [bytes], b: 1 }).toMatchObject({ a: [same] });
    expect([{ a: bytes }]).toStrictEqual([{ a: same }]);
    expect(new Map([["a", bytes]])).toEqual(new Map([["a", same]]));
    expect(bytes).toEqual(expect.any(Uint8Array));
  });

  it.each([
    ["another byte", Uint8Array.of(1, 2, 4)],
    ["fewer bytes", Uint8Array.of(1, 2)],
    ["more bytes", Uint8Array.of(1, 2, 3, 0)],
    ["the same bytes of another class", Buffer.of(1, 2, 3)],
    ["the same numbers of another width", Uint16Array.of(1, 2, 3)],
    ["a list of the numbers", [1, 2, 3]],
  ])("are not equal to %s", (_, other) => {
    expect(bytes).not.toEqual(other);
    expect(other).not.toEqual(bytes);
    expect({ a: [bytes] }).not.toMatchObject({ a: [other] });
    expect([{ a: bytes }]).not.toStrictEqual([{ a: other }]);
  });
});
