import { describe, expect, it } from "vitest";
import { ENVIRONMENT, FRAMES } from "../../src/evm/layout.ts";
import { type CoreFork, Machine, type PreparedCode } from "../../src/evm/machine.ts";
import { keccak256 } from "../../src/primitives/hash.ts";

const FORK: CoreFork = { name: "one", missing: new Uint8Array(32), exponentGas: 50 };

/** Prepares code and keeps it, if there is space. */
function keep(machine: Machine, code: Uint8Array): PreparedCode | undefined {
  const at = machine.placeInArena(code.length);
  if (at === undefined) return undefined;
  const preparing = machine.prepare(code, at);
  let step = preparing.next();
  while (step.done !== true) step = preparing.next();
  machine.keep(keccak256(code), step.value);
  return step.value;
}

const codeNumber = (n: number): Uint8Array => new Uint8Array(24_576).fill(n);

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

  it("of a megabyte and more is made in slices", () => {
    const machine = new Machine("plain");
    machine.begin(FORK);
    machine.reserve(FRAMES + 12_000_000);
    const slices = [...machine.prepare(new Uint8Array(4_000_000).fill(0x5b), FRAMES)];
    expect(slices.length).toBeGreaterThan(6);
  });
});

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
