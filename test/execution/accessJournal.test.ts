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
  readonly forGood = new Set<string>();
  private readonly saved: (readonly [Set<string>, Set<string>, Set<string>])[] = [];

  checkpoint(): void {
    this.saved.push([new Set(this.warm), new Set(this.slots), new Set(this.touched)]);
  }

  commit(): void {
    this.saved.pop();
  }

  revert(): void {
    const [warm, slots, touched] = this.saved.pop() ?? [
      new Set<string>(),
      new Set<string>(),
      new Set<string>(),
    ];
    this.warm = warm;
    this.slots = slots;
    this.touched = touched;
    for (const key of this.forGood) touched.add(key);
  }

  get depth(): number {
    return this.saved.length;
  }
}

const address = fc.nat(ADDRESSES.length - 1).map((index) => ADDRESSES[index] as Address);
const slot = fc.nat(SLOTS.length - 1).map((index) => SLOTS[index] as Uint8Array);
const step = fc.oneof(
  fc.record({ kind: fc.constant("warm" as const), address }),
  fc.record({ kind: fc.constantFrom("touch" as const, "touchForGood" as const), address }),
  fc.record({ kind: fc.constant("slot" as const), address, slot }),
  fc.record({ kind: fc.constantFrom("checkpoint" as const, "commit" as const, "revert" as const) }),
);

describe("the journal of accesses", () => {
  it("agrees with sets that are copied at each checkpoint", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const journal = new AccessJournal(ALWAYS_WARM);
        const model = new Model();
        for (const each of steps) perform(journal, model, each);
        while (model.depth > 0) {
          journal.revert();
          model.revert();
        }
        const touched: string[] = [];
        journal.forEachTouched((found) => touched.push(toKey(found)));
        expect(new Set(touched)).toEqual(model.touched);
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
      return;
    case "touchForGood":
      journal.touchForGood(each.address);
      model.touched.add(toKey(each.address));
      model.forGood.add(toKey(each.address));
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
        journal.revert();
        model.revert();
      }
  }
}
