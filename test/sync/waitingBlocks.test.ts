import { describe, expect, it } from "vitest";
import { ok } from "../../src/primitives/result.ts";
import { createWaitingBlocks } from "../../src/sync/waitingBlocks.ts";
import { aStoredBlock } from "../builders/aStoredBlock.ts";

const MIB = 1024 * 1024;

/** A block with that much in it, announced by that peer. */
function announced(number: number, peer: string, extraBytes = 0) {
  const { header, hash } = aStoredBlock({ number });
  const open = () => ok({ header, transactions: [], ommers: [] });
  return { header, hash, bytes: extraBytes, isLong: false, open, peer };
}

describe("announced blocks that wait", () => {
  it("take no more memory than they may, however large each of them is", () => {
    const waiting = createWaitingBlocks();
    const kept = Array.from({ length: 20 }, (_, index) =>
      waiting.add(announced(index + 2, "stranger", 16 * MIB)),
    );
    expect(kept.filter(Boolean).length).toBeLessThan(8);
  });

  it("of one peer are not kept out by those of others", () => {
    const waiting = createWaitingBlocks();
    for (let number = 2; number < 32; number++)
      for (let peer = 0; peer < 10; peer++) waiting.add(announced(number, `stranger ${peer}`, MIB / 2));
    const honest = announced(1, "friend");
    expect(waiting.add(honest)).toBe(true);
    waiting.dropUpTo(0n);
    for (let taken = 0; taken < 300; taken++) {
      const next = waiting.takeChildOf(honest.header.parentHash);
      if (next === honest) return;
    }
    expect.unreachable("what the friend announced is gone");
  });
});
