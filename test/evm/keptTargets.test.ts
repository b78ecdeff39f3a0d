import { expect, it } from "vitest";
import { keepTargets, keptTargets, makeRoomForTargets } from "../../src/evm/keptTargets.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { bytesOfThreads } from "../../src/primitives/threadPages.ts";

const hashOf = (n: number): Uint8Array => bigintToFixedBytes(BigInt(n), 32);

it("jump targets of contracts are kept in a bounded space, which is told, and dropped once it is full", () => {
  const bits = new Uint8Array(3074).fill(1);
  const fill = (): void => {
    for (let n = 0; n < 10_000; n++) keepTargets(hashOf(n), bits);
  };
  // What other tests kept goes first.
  fill();
  makeRoomForTargets();
  const before = bytesOfThreads();
  fill();
  expect(keptTargets(hashOf(0))).toBe(bits);
  expect(keptTargets(hashOf(4_000))).toBe(bits);
  expect(keptTargets(hashOf(9_999))).toBeUndefined();
  const taken = bytesOfThreads() - before;
  expect(taken).toBeGreaterThan(15_000_000);
  expect(taken).toBeLessThanOrEqual(16 * 1024 * 1024);
  makeRoomForTargets();
  expect(keptTargets(hashOf(0))).toBeUndefined();
  expect(bytesOfThreads()).toBe(before);
  keepTargets(hashOf(9_999), bits);
  makeRoomForTargets();
  expect(keptTargets(hashOf(9_999))).toBe(bits);
});
