import { describe, expect, it } from "vitest";
import { isKzgProofValid, prepareKzg } from "../../src/execution/precompiles/kzg.ts";

/** The zero polynomial, whose commitment and proofs are the point at infinity, has the value 0 everywhere. */
const INFINITY = Uint8Array.from([0xc0, ...new Uint8Array(47)]);
const isValid = (points: { readonly commitment?: Uint8Array; readonly proof?: Uint8Array }): boolean =>
  isKzgProofValid({
    commitment: INFINITY,
    proof: INFINITY,
    z: new Uint8Array(32).fill(0x5b),
    y: new Uint8Array(32),
    ...points,
  });

describe("the point at infinity of a proof", () => {
  it("is 0xc0 and zeros, and no other bytes with its flag", async () => {
    await prepareKzg();
    expect(isValid({})).toBe(true);
    const others = [
      ...Array.from({ length: 47 }, (_, at) => INFINITY.with(at + 1, 1)),
      ...[0xe0, 0xc1, 0x40, 0x00, 0x80, 0xa0].map((first) => INFINITY.with(0, first)),
    ];
    for (const other of others) {
      expect(isValid({ proof: other }), `${other}`).toBe(false);
      expect(isValid({ commitment: other }), `${other}`).toBe(false);
    }
  });
});
