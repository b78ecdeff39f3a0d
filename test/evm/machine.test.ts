import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findTargets, placeCode, setTargets, targetsOf } from "../../src/evm/code.ts";
import { ENVIRONMENT, FIELD, FIELDS_BYTES, FRAMES, preparedBytes } from "../../src/evm/layout.ts";
import { type CoreFork, Machine, type PreparedCode } from "../../src/evm/machine.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { atOnce } from "../../src/primitives/steps.ts";
import { casesOf } from "../thorough.ts";

const FORK: CoreFork = { name: "one", missing: new Uint8Array(32), exponentGas: 50 };

/** Places code and keeps it, if there is space. */
function keep(machine: Machine, code: Uint8Array): PreparedCode | undefined {
  const at = machine.placeInArena(code.length);
  if (at === undefined) return undefined;
  const placed = atOnce(placeCode(machine, at, code.length, 0));
  machine.keep(keccak256(code), placed);
  return placed;
}

const codeNumber = (n: number): Uint8Array => new Uint8Array(24_576).fill(n);

describe("a frame", () => {
  it("may begin beyond 2 GiB", () => {
    const machine = new Machine("plain");
    machine.begin(FORK);
    const code = keep(machine, Uint8Array.of(0x60, 7, 0x5f, 0x53));
    const at = 2 ** 31 + 4096;
    const memory = at + FIELDS_BYTES + 1024;
    // The pages are reserved, and few of them are touched.
    expect(machine.reserve(memory + 65_536)).toBe(true);
    machine.enter(
      { at, code: expectDefined(code, "code"), stackLimit: 32, isStatic: false, input: at, inputSize: 9 },
      memory,
    );
    const fields = [FIELD.STACK, FIELD.STACK_END, FIELD.MEMORY, FIELD.INPUT, FIELD.INPUT_SIZE];
    const stack = at + FIELDS_BYTES;
    expect(fields.map((field) => machine.field(at, field))).toEqual([stack, stack + 1024, memory, at, 9]);
  });
});

describe("prepared code", () => {
  it("is kept for the next message under the same fork, and for no other fork", () => {
    const machine = new Machine("plain");
    machine.begin(FORK);
    const kept = keep(machine, codeNumber(1));
    machine.begin(FORK);
    expect(machine.preparedCode(keccak256(codeNumber(1)))).toBe(kept);
    machine.begin({ ...FORK, name: "another" });
    expect(machine.preparedCode(keccak256(codeNumber(1)))).toBeUndefined();
  });

  it("stays below the frames, and is dropped before the next message once there is no more space", () => {
    const machine = new Machine("plain");
    machine.begin(FORK);
    let count = 0;
    for (
      let kept = keep(machine, codeNumber(0));
      kept !== undefined;
      kept = keep(machine, codeNumber(++count))
    )
      expect(kept.targets + 24_576 / 8).toBeLessThan(FRAMES);
    expect(count).toBeGreaterThan(15);
    expect(machine.preparedCode(keccak256(codeNumber(3)))).toBeDefined();
    machine.begin(FORK);
    expect(machine.preparedCode(keccak256(codeNumber(3)))).toBeUndefined();
    expect(keep(machine, codeNumber(3))).toBeDefined();
  });

  it("of a megabyte and more is placed, and searched for jump targets, in slices", () => {
    const code = new Uint8Array(4_000_000).fill(0x5b);
    const machine = new Machine("plain");
    machine.reserve(FRAME + FIELDS_BYTES);
    expect([...placeCode(machine, FRAMES, code.length, 0)].length).toBeGreaterThan(2);
    enter(machine, code);
    expect([...findTargets(machine, FRAME, () => code)].length).toBeGreaterThan(100);
    expect(targetsOf(machine, FRAME).every((bits, n) => bits === (n < 500_000 ? 0xff : 0))).toBe(true);
  });

  it("gets the space for its jump targets in slices, too", () => {
    const megabytes = 16;
    const size = megabytes * 1_048_576;
    const machine = new Machine("plain");
    machine.reserve(FRAMES + preparedBytes(size));
    expect([...placeCode(machine, FRAMES, size, 0)].length).toBeGreaterThan(megabytes);
  });

  it("has the jump targets that a walk over its instructions meets", () => {
    const machine = new Machine("plain");
    machine.reserve(FRAME + FIELDS_BYTES);
    fc.assert(
      fc.property(SOME_CODE, fc.nat(3), (some, longer) => {
        // Across the pieces in which code is read.
        const code = new Uint8Array([...new Uint8Array(longer * 8190).fill(0x50), ...some]);
        enter(machine, code);
        atOnce(findTargets(machine, FRAME, () => code));
        const found = targetsOf(machine, FRAME);
        const expected = bitsOf(targetsIn(code), found.length);
        expect(Buffer.compare(found, expected)).toBe(0);
        enter(machine, code);
        setTargets(machine, FRAME, found);
        expect(Buffer.compare(targetsOf(machine, FRAME), expected)).toBe(0);
      }),
      { numRuns: casesOf(1_500) },
    );
  });
});

const FRAME = FRAMES + 12_000_000;

/** Begins a frame with code that lies outside of the machine. */
function enter(machine: Machine, { length }: Uint8Array): void {
  const code = atOnce(placeCode(machine, FRAMES, length, 0));
  machine.enter({ at: FRAME, code, stackLimit: 0, isStatic: false, input: 0, inputSize: 0 }, FRAME);
}

/** Many targets, pushes of all sizes, and what differs from them by a bit. */
const SOME_CODE = fc
  .uint8Array({ maxLength: 120 })
  .map((bytes) => bytes.map((byte) => (byte < 0x50 ? 0x5b : byte < 0x90 ? 0x50 + (byte & 0x3f) : byte)));

function targetsIn(code: Uint8Array): number[] {
  const targets: number[] = [];
  for (let at = 0; at < code.length; at++) {
    const op = code[at] as number;
    if (op === 0x5b) targets.push(at);
    if (op >= 0x60 && op <= 0x7f) at += op - 0x5f;
  }
  return targets;
}

function bitsOf(positions: readonly number[], size: number): Uint8Array {
  const bits = new Uint8Array(size);
  for (const at of positions) bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
  return bits;
}

describe("the environment", () => {
  it("holds what was set last, as number or as bytes", () => {
    const machine = new Machine("plain");
    const word = (): bigint => machine.readWord(ENVIRONMENT + 32);
    const bytes = new Uint8Array(32).fill(7);
    for (const [value, read] of [
      [5n, 5n],
      [6n, 6n],
      [bytes, BigInt(`0x${"07".repeat(32)}`)],
      [new Uint8Array(20).fill(1), BigInt(`0x${"01".repeat(20)}`)],
      [0n, 0n],
    ] as const) {
      machine.setEnvironment(1, value);
      machine.setEnvironment(1, value);
      expect(word()).toBe(read);
    }
  });
});
