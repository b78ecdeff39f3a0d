import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AccessJournal } from "../../src/execution/accessJournal.ts";
import { precompileAddress } from "../../src/execution/precompiles/addresses.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { toKey } from "../../src/primitives/byteKey.ts";
import { casesOf } from "../thorough.ts";

const RIPEMD160 = precompileAddress(3);
const ADDRESSES: readonly Address[] = [
  RIPEMD160,
  ...[10, 11, 12].map((byte) => asAddress(new Uint8Array(20).fill(byte))),
];
const SLOTS = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
const ALWAYS_WARM = new Set([toKey(RIPEMD160)]);

/** Sets that are copied whole at each checkpoint. */
class Model {
  warm = new Set<string>();
  slots = new Set<string>();
  touched = new Set<string>();
  /** Touched since the last checkpoint. */
  recent = new Set<string>();
  private readonly saved: Readonly<Record<"warm" | "slots" | "touched" | "recent", Set<string>>>[] = [];

  checkpoint(): void {
    const { warm, slots, touched, recent } = this;
    this.saved.push({
      warm: new Set(warm),
      slots: new Set(slots),
      touched: new Set(touched),
      recent: new Set(recent),
    });
    this.recent = new Set();
  }

  commit(): void {
    const before = this.saved.pop()?.recent ?? new Set();
    this.recent = new Set([...before, ...this.recent].filter((key) => this.touched.has(key)));
  }

  revert(): void {
    Object.assign(this, this.saved.pop());
  }

  get depth(): number {
    return this.saved.length;
  }
}

const address = fc.nat(ADDRESSES.length - 1).map((index) => ADDRESSES[index] as Address);
const slot = fc.nat(SLOTS.length - 1).map((index) => SLOTS[index] as Uint8Array);
const step = fc.oneof(
  fc.record({ kind: fc.constant("warm" as const), address }),
  fc.record({ kind: fc.constantFrom("touch" as const, "untouch" as const), address }),
  fc.record({ kind: fc.constant("slot" as const), address, slot }),
  fc.record({ kind: fc.constantFrom("checkpoint" as const, "commit" as const, "revert" as const) }),
);

describe("the journal of accesses", () => {
  it("agrees with sets that are copied at each checkpoint", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const journal = new AccessJournal(ALWAYS_WARM);
        const model = new Model();
        for (const each of steps) {
          perform(journal, model, each);
          if (model.depth > 0)
            expect(journal.isTouchedSinceCheckpoint(RIPEMD160)).toBe(model.recent.has(toKey(RIPEMD160)));
        }
        while (model.depth > 0) {
          journal.revert();
          model.revert();
        }
        expect(new Set([...journal.touched()].map((found) => toKey(found)))).toEqual(model.touched);
      }),
      { numRuns: casesOf(300) },
    );
  });

  it("knows an address that is accessed again right after a revert", () => {
    const journal = new AccessJournal(ALWAYS_WARM);
    const [, first, second] = ADDRESSES as [Address, Address, Address, Address];
    journal.checkpoint();
    journal.warm(first);
    journal.revert();
    expect(journal.warm(first)).toBe(true);
    journal.warm(second);
    expect(journal.warm(first)).toBe(false);
  });

  it("knows a touch again that was forgotten and is restored by a revert, whatever else the revert undoes", () => {
    const inOne = new AccessJournal(ALWAYS_WARM);
    inOne.touch(RIPEMD160);
    inOne.checkpoint();
    inOne.untouch(RIPEMD160);
    inOne.warm(RIPEMD160);
    inOne.revert();
    expect(touchedIn(inOne)).toEqual([RIPEMD160]);
    const inTwo = new AccessJournal(ALWAYS_WARM);
    inTwo.touch(RIPEMD160);
    inTwo.checkpoint();
    inTwo.untouch(RIPEMD160);
    inTwo.checkpoint();
    inTwo.warm(RIPEMD160);
    inTwo.revert();
    inTwo.touch(RIPEMD160);
    inTwo.revert();
    expect(touchedIn(inTwo)).toEqual([RIPEMD160]);
    inTwo.untouch(RIPEMD160);
    expect(touchedIn(inTwo)).toEqual([]);
  });

  it("does not take a touch for one since the checkpoint when that was opened after the touch was committed", () => {
    const journal = new AccessJournal(ALWAYS_WARM);
    journal.checkpoint();
    journal.touch(RIPEMD160);
    expect(journal.isTouchedSinceCheckpoint(RIPEMD160)).toBe(true);
    journal.commit();
    journal.checkpoint();
    expect(journal.isTouchedSinceCheckpoint(RIPEMD160)).toBe(false);
    journal.commit();
    journal.clear();
    expect(touchedIn(journal)).toEqual([]);
  });

  it("lists slots by address, those of a reverted access where they are accessed again", () => {
    const journal = new AccessJournal(ALWAYS_WARM);
    const [, first, second] = ADDRESSES as [Address, Address, Address, Address];
    const [a, b] = SLOTS as [Uint8Array, Uint8Array];
    journal.checkpoint();
    journal.warmSlot(first, a);
    journal.revert();
    journal.warmSlot(second, b);
    journal.warmSlot(first, b);
    expect([...journal.warmStorage()]).toEqual([
      [toKey(second), new Set([toKey(b)])],
      [toKey(first), new Set([toKey(b)])],
    ]);
  });
});

function touchedIn(journal: AccessJournal): readonly Address[] {
  return [...journal.touched()];
}

function perform(
  journal: AccessJournal,
  model: Model,
  each: typeof step extends fc.Arbitrary<infer T> ? T : never,
): void {
  switch (each.kind) {
    case "warm": {
      const key = toKey(each.address);
      expect(journal.warm(each.address)).toBe(!model.warm.has(key) && !ALWAYS_WARM.has(key));
      model.warm.add(key);
      return;
    }
    case "touch":
      journal.touch(each.address);
      model.touched.add(toKey(each.address));
      model.recent.add(toKey(each.address));
      return;
    case "untouch":
      journal.untouch(each.address);
      model.touched.delete(toKey(each.address));
      model.recent.delete(toKey(each.address));
      return;
    case "slot": {
      const key = toKey(each.address) + toKey(each.slot);
      expect(journal.isWarmSlot(each.address, each.slot)).toBe(model.slots.has(key));
      expect(journal.warmSlot(each.address, each.slot)).toBe(!model.slots.has(key));
      model.slots.add(key);
      model.warm.add(toKey(each.address));
      return;
    }
    case "checkpoint":
      journal.checkpoint();
      model.checkpoint();
      return;
    default:
      if (model.depth === 0) return;
      if (each.kind === "commit") {
        journal.commit();
        model.commit();
      } else {
        // A revert may be done in parts.
        if (journal.revertPart(1)) journal.revertPart(2);
        journal.revert();
        model.revert();
      }
  }
}
