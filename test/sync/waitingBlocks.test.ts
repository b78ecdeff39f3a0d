import { describe, expect, it } from "vitest";
import { ok } from "../../src/primitives/result.ts";
import { WaitingBlocks } from "../../src/sync/waitingBlocks.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";

const MIB = 1024 * 1024;

/** A block of `extraBytes`, announced by `peer`. */
function announced(number: number, peer: string, extraBytes = 0) {
  const { header, hash } = aStoredBlock({ number });
  const open = () => ok({ header, transactions: [], ommers: [] });
  return { header, hash, bytes: extraBytes, isLong: false, open, peer };
}

describe("announced blocks that wait", () => {
  it("stay within their memory bound, however large each of them is", () => {
    const waiting = new WaitingBlocks();
    const kept = Array.from({ length: 20 }, (_, index) =>
      waiting.add(announced(index + 2, "untrusted", 16 * MIB)),
    );
    expect(kept.filter(Boolean).length).toBeLessThan(8);
  });

  it("of one peer are not displaced by those of others", () => {
    const waiting = new WaitingBlocks();
    for (let number = 2; number < 32; number++)
      for (let peer = 0; peer < 10; peer++) waiting.add(announced(number, `untrusted ${peer}`, MIB / 2));
    const honest = announced(1, "honest");
    expect(waiting.add(honest)).toBe(true);
    waiting.dropUpTo(0n);
    for (let taken = 0; taken < 300; taken++) {
      const next = waiting.takeChildOf(honest.header.parentHash);
      if (next === honest) return;
    }
    expect.unreachable("the honest announcement was dropped");
  });
});
