import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyse } from "../../../src/execution/interpreter/analysis.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";

describe("code analysis", () => {
  it("finds each JUMPDEST outside of PUSH data, in one go or in slices", async () => {
    const instruction = fc.oneof(fc.constantFrom(0x5b, 0x5f, 0x60, 0x61, 0x7f, 0x80), fc.nat(255));
    const codes = fc.array(instruction, { minLength: 1, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(codes, async (bytes) => {
        const code = Uint8Array.from(bytes);
        const sliced = analyse(code, undefined);
        await sliced.prepare(code, () => Promise.resolve());
        const expected = jumpTargets(code);
        const inOneGo = analyse(code, undefined);
        for (const [position, isTarget] of expected.entries()) {
          expect(inOneGo.isJumpTarget(code, position)).toBe(isTarget);
          expect(sliced.isJumpTarget(code, position)).toBe(isTarget);
        }
      }),
    );
  });

  it("scans megabytes in slices, even if a PUSH crosses a boundary", async () => {
    const code = new Uint8Array(3 * 1024 * 1024).fill(0x5b);
    code[1024 * 1024 - 1] = 0x7f;
    let yields = 0;
    const analysis = analyse(code, undefined);
    await analysis.prepare(code, async () => void yields++);
    expect(yields).toBe(3);
    const isTarget = [-2, -1, 0, 31, 32].map((n) => analysis.isJumpTarget(code, 1024 * 1024 + n));
    expect(isTarget).toEqual([true, false, false, false, true]);
  });

  it("is cached for 1,000 contracts of the maximum size, and the oldest entry is evicted first", () => {
    const code = new Uint8Array(24_576);
    const first = new Map(hashes(1000).map((hash) => [hash, analyse(code, hash)]));
    for (const [hash, analysis] of first) expect(analyse(code, hash)).toBe(analysis);
    const [oldest] = first.keys();
    for (const hash of hashes(6000)) analyse(code, hash);
    expect(analyse(code, oldest)).not.toBe(oldest === undefined ? undefined : first.get(oldest));
  });
});

let hashed = 0n;

function hashes(count: number) {
  return Array.from({ length: count }, () => keccak256(bigintToFixedBytes(++hashed, 32)));
}

function jumpTargets(code: Uint8Array): boolean[] {
  const targets = Array.from(code, () => false);
  for (let at = 0; at < code.length; at++) {
    const instruction = code[at] ?? 0;
    if (instruction === 0x5b) targets[at] = true;
    if (instruction >= 0x60 && instruction <= 0x7f) at += instruction - 0x5f;
  }
  return targets;
}
