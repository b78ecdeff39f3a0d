import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TransientStorage } from "../../../src/execution/interpreter/transientStorage.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { casesOf } from "../../thorough.ts";

type Step =
  | { readonly kind: "put"; readonly account: number; readonly slot: number; readonly value: number }
  | { readonly kind: "checkpoint" | "commit" | "revert" };

const ACCOUNTS = [1, 2].map((byte) => new Uint8Array(20).fill(byte));
const SLOTS = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));

function steps(): fc.Arbitrary<readonly Step[]> {
  const put = fc.record({
    kind: fc.constant("put" as const),
    account: fc.nat(ACCOUNTS.length - 1),
    slot: fc.nat(SLOTS.length - 1),
    value: fc.nat(3),
  });
  const frame = fc.record({
    kind: fc.constantFrom("checkpoint" as const, "commit" as const, "revert" as const),
  });
  return fc.array(fc.oneof({ weight: 3, arbitrary: put }, { weight: 2, arbitrary: frame }), {
    maxLength: 60,
  });
}

/** The values of all slots. */
function valuesOf(slots: TransientStorage): string[] {
  return ACCOUNTS.flatMap((account) => SLOTS.map((slot) => toHex(slots.get(account, slot))));
}

describe("transient storage", () => {
  it("reverts as a copy at each checkpoint would, and releases all memory in the end", () => {
    fc.assert(
      fc.property(steps(), (sequence) => {
        let heldBytes = 0;
        const slots = new TransientStorage({
          take: (bytes) => {
            heldBytes += bytes;
          },
          release: (bytes) => {
            heldBytes -= bytes;
          },
        });
        slots.checkpoint();
        const copies: string[][] = [];
        for (const step of sequence) {
          if (step.kind === "checkpoint") {
            copies.push(valuesOf(slots));
            slots.checkpoint();
          } else if (step.kind === "put") {
            const before = valuesOf(slots);
            before[step.account * SLOTS.length + step.slot] = toHex(bytesOf(step.value));
            slots.put(
              ACCOUNTS[step.account] as Uint8Array,
              SLOTS[step.slot] as Uint8Array,
              bytesOf(step.value),
            );
            expect(valuesOf(slots)).toEqual(before);
          } else {
            const copy = copies.pop();
            if (copy === undefined) continue;
            const expected = step.kind === "revert" ? copy : valuesOf(slots);
            // A revert may be done in parts.
            if (step.kind === "revert" && slots.revertPart(1)) slots.revertPart(2);
            slots[step.kind]();
            expect(valuesOf(slots)).toEqual(expected);
          }
        }
        slots.clear();
        expect(valuesOf(slots).join("")).toBe("0x".repeat(ACCOUNTS.length * SLOTS.length));
        expect(heldBytes).toBe(0);
      }),
      { numRuns: casesOf(300) },
    );
  });
});

/** Without leading zeros. */
function bytesOf(value: number): Uint8Array {
  return value === 0 ? new Uint8Array(0) : Uint8Array.of(value);
}
