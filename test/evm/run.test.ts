import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATUS } from "../../src/evm/layout.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bytesToBigint } from "../../src/primitives/quantity.ts";
import { casesOf } from "../thorough.ts";
import { type CoreStart, codeOf, runInCore } from "./coreRun.ts";

function run(hex: string, start: CoreStart = {}) {
  return runInCore(hexToBytes(`0x${hex}`), start);
}

const wordOf = bytesToBigint;

describe("pushing, copying and swapping words", () => {
  it.each(Array.from({ length: 32 }, (_, n) => n + 1))("PUSH%i pushes what follows it", (size) => {
    const data = Uint8Array.from({ length: size }, (_, n) => 0xa1 + n);
    const code = Uint8Array.of(0x5f + size, ...data, 0x60, 7);
    expect(runInCore(code).stack).toEqual([wordOf(data), 7n]);
    // Bytes beyond the code are zero.
    const short = runInCore(code.slice(0, size));
    expect(short.stack).toEqual([wordOf(data.slice(0, size - 1)) << 8n]);
  });

  it.each(Array.from({ length: 16 }, (_, n) => n + 1))("DUP%i and SWAP%i reach as deep as they say", (n) => {
    const words = Array.from({ length: 17 }, (_, index) => BigInt(index + 1));
    expect(runInCore(codeOf(0x7f + n, ...words)).stack.at(-1)).toBe(BigInt(n));
    const { stack } = runInCore(codeOf(0x8f + n, ...words));
    expect([stack.at(-1), stack.at(-1 - n)]).toEqual([BigInt(n + 1), 1n]);
    expect(runInCore(codeOf(0x7f + n, ...words.slice(0, n - 1))).status).toBe(STATUS.UNDERFLOW);
    expect(runInCore(codeOf(0x8f + n, ...words.slice(0, n))).status).toBe(STATUS.UNDERFLOW);
  });
});

describe("code", () => {
  it.each([0, 1, 2, 3, 4])("of any length is prepared as it runs, behind %i bytes", (before) => {
    // Sums in 4,000 bytes: a PUSH breaks off at the end of what is prepared at once, sooner or later.
    const additions = Array.from({ length: 800 }, (_, n) => [0x62, 0, n >> 8, n & 0xff, 0x01]).flat();
    const code = Uint8Array.from([...new Array<number>(before).fill(0x5b), 0x5f, ...additions, 0x0c]);
    for (const kind of ["plain", "stepping"] as const) {
      const { status, stack, at } = runInCore(code, {}, kind);
      expect([status, stack, at]).toEqual([STATUS.INVALID, [319_600n], before + 4001]);
    }
  });
});

describe("memory", () => {
  it("stores and loads words and bytes anywhere, and grows by words", () => {
    const { stack, memory } = run("60ff60215360 0151 59".replaceAll(" ", ""));
    expect(stack).toEqual([0n, 64n]);
    expect(memory[0x21]).toBe(0xff);
    expect(
      run("7f0102030405060708091011121314151617181920212223242526272829303132600552600551").stack,
    ).toEqual([0x0102030405060708091011121314151617181920212223242526272829303132n]);
  });

  it("costs three gas a word and a 512th of the words squared", () => {
    // PUSH3 PUSH3 MSTORE of the word that ends at 1 MB.
    const gas = 1_000_000_000n - run("6001620fffe052").gas;
    const words = 32_768n;
    expect(gas).toBe(9n + 3n * words + (words * words) / 512n);
  });

  it("is priced in 63 bits as by Besu, and ends at 2 GiB less a word once gas pays for more", () => {
    // MLOAD after PUSH8; Besu divides a square of more than 63 bits before it multiplies.
    const price = (offset: bigint): bigint => {
      const words = (offset + 63n) / 32n;
      const square = words * words < 2n ** 63n ? (words * words) / 512n : (words / 512n) * words;
      return 6n + 3n * words + square;
    };
    const load = (offset: bigint, gas: bigint) =>
      run(`67${offset.toString(16).padStart(16, "0")}51`, { gas }).status;
    for (const offset of [2n ** 31n - 63n, 2n ** 32n - 1n, 2n ** 35n, 2n ** 36n + 12_345n, 2n ** 40n - 64n]) {
      expect([offset, load(offset, price(offset))]).toEqual([offset, STATUS.BEYOND]);
      expect([offset, load(offset, price(offset) - 1n)]).toEqual([offset, STATUS.OUT_OF_GAS]);
    }
    expect(load(2n ** 31n - 64n, price(2n ** 31n - 64n) - 1n)).toBe(STATUS.OUT_OF_GAS);
    for (const offset of [2n ** 41n, 2n ** 62n, 2n ** 64n - 1n])
      expect([offset, load(offset, 2n ** 63n - 1n)]).toEqual([offset, STATUS.OUT_OF_GAS]);
    expect(run(`7f${"ff".repeat(32)}51`, { gas: 2n ** 63n - 1n }).status).toBe(STATUS.OUT_OF_GAS);
  });

  it.each(["37", "39", "5e", "20", "a0"])("%s takes gas for sizes above 32 bits in full", (code) => {
    // 2^34 bytes: the memory alone costs 2^49 and some gas, the copied words less than 2^38.
    const before = code === "20" || code === "a0" ? "" : "5f";
    const status = (gas: bigint) => run(`640400000000${before}5f${code}`, { gas }).status;
    expect(status(2n ** 49n)).toBe(STATUS.OUT_OF_GAS);
    expect(status(2n ** 49n + 2n ** 38n)).toBe(STATUS.BEYOND);
  });

  it.each(["37", "39", "3e", "5e", "20", "a0", "f3", "fd"])("%s with size zero takes any offset", (code) => {
    const all = `7f${"ff".repeat(32)}`;
    // From where 3e copies has to be inside of the return data.
    const from = code === "3e" ? "5f" : all;
    const { status, memory } = run(`5f${["20", "a0", "f3", "fd"].includes(code) ? "" : from}${all}${code}`);
    expect(status).toBeLessThan(STATUS.REST);
    expect(memory).toHaveLength(0);
  });

  it("copies input, code and memory, with zeros beyond", () => {
    const input = Uint8Array.from({ length: 40 }, (_, n) => n + 1);
    const copied = run("60206014600137", { input }).memory;
    expect([...copied.slice(0, 33)]).toEqual([0, ...input.slice(20), ...new Array(12).fill(0)]);
    expect(run("601435", { input }).stack).toEqual([wordOf(input.slice(20)) << 96n]);
    expect(run("607f35", { input }).stack).toEqual([0n]);
    expect(toHex(run("600860015f39").memory.slice(0, 8))).toBe("0x0860015f39000000");
    // MCOPY of three bytes, overlapping in both directions, of a word that ends with 0102030405.
    const moved = (to: string): string => toHex(run(`6401020304055f526003601b60${to}5e`).memory.slice(0x1a));
    expect([moved("1c"), moved("1a")]).toEqual(["0x000101020305", "0x010203030405"]);
  });

  it("hashes as the rest of the program", () => {
    const sizes = fc.integer({ min: 0, max: 500 });
    const check = (offset: number, size: number, seed: number): void => {
      const input = Uint8Array.from({ length: 600 }, (_, n) => (n * seed) & 0xff);
      const hex = (value: number): string => `61${value.toString(16).padStart(4, "0")}`;
      const { stack, memory } = run(`6102585f5f37${hex(size)}${hex(offset)}20`, { input });
      expect(stack).toEqual([wordOf(keccak256(memory.slice(offset, offset + size)))]);
    };
    fc.assert(fc.property(sizes, sizes, fc.nat(), check), { numRuns: casesOf(600) });
  });
});

describe("jumps", () => {
  it("lead to a JUMPDEST that is no data of a PUSH", () => {
    expect(run("600456fe5b6001").stack).toEqual([1n]);
    expect(run("6005566000605b").status).toBe(STATUS.BAD_JUMP);
    expect(run("600456615b5b").status).toBe(STATUS.BAD_JUMP);
    expect(run("607f56").status).toBe(STATUS.BAD_JUMP);
    expect(run(`7f${"ff".repeat(32)}56`).status).toBe(STATUS.BAD_JUMP);
    expect(run("5f607f576001").stack).toEqual([1n]);
    expect(run("6001600657fe5b6002").stack).toEqual([2n]);
  });

  it("return to the driver once in a while, as slow instructions without any do", () => {
    // 100,000 times around.
    const { returns, stack } = run("620186a05b600190038060045700", { work: 512 });
    expect(stack).toEqual([0n]);
    expect(returns).toBeGreaterThan(100_000 / 513);
    const hashes = `${"610400 5f 20 50".replaceAll(" ", "").repeat(1000)}`;
    expect(run(hashes, { work: 512 }).returns).toBeGreaterThan(9);
  });
});

describe("halts", () => {
  it("happen at the instruction, with its words on the stack", () => {
    expect(run("600101")).toMatchObject({ status: STATUS.UNDERFLOW, at: 2, stack: [1n] });
    expect(run("60016002fe")).toMatchObject({ status: STATUS.INVALID, at: 4, stack: [1n, 2n] });
    expect(run("5f5f5f", { stackLimit: 2 })).toMatchObject({ status: STATUS.OVERFLOW, at: 2 });
    expect(run("5f80", { stackLimit: 1 })).toMatchObject({ status: STATUS.OVERFLOW, at: 1 });
    expect(run("600a600a52", { gas: 11n })).toMatchObject({
      status: STATUS.OUT_OF_GAS,
      at: 4,
      stack: [10n, 10n],
    });
    expect(run("600a600a52", { gas: 12n })).toMatchObject({ status: STATUS.OUT_OF_GAS, at: 4 });
    expect(run("6001603e5f3e")).toMatchObject({ status: STATUS.OUT_OF_BOUNDS, at: 5 });
    expect(run("5f5fa0", { isStatic: true })).toMatchObject({ status: STATUS.STATIC_CHANGE, at: 2 });
    expect(run("5f5f5ff0", { isStatic: true })).toMatchObject({ status: STATUS.STATIC_CHANGE, at: 3 });
  });

  it("happen at instructions that the fork lacks", () => {
    const missing = new Uint8Array(32);
    missing[0x5f >> 3] = 1 << (0x5f & 7);
    expect(run("5f", { missing }).status).toBe(STATUS.INVALID);
    expect(run("605f", { missing }).stack).toEqual([0x5fn]);
  });
});

it("answers BLOBHASH of a hash that there is not", () => {
  for (const index of ["5f", "60ff", `7f${"ff".repeat(32)}`]) expect(run(`${index}49`).stack).toEqual([0n]);
  expect(run("49").status).toBe(STATUS.UNDERFLOW);
});

it("leaves instructions on the state to the driver, with memory paid for and nothing taken off the stack", () => {
  const leaving = [
    "31",
    "3b",
    "3f",
    "40",
    "47",
    "54",
    "55",
    "5c",
    "5d",
    "ff",
    "3c",
    "f0",
    "f5",
    "f1",
    "f2",
    "f4",
    "fa",
  ];
  for (const code of leaving) {
    const { status, stack, at } = run(`5f5f5f5f5f5f5f${code}`);
    expect([status, stack.length, at]).toEqual([STATUS.LEAVE, 7, 8]);
  }
  // Output of 64 bytes at 32.
  expect(run("604060205f5f5f5f5ff1").memory).toHaveLength(96);
});

it("returns after each instruction in the other build, with the same results", () => {
  const code = hexToBytes("0x620003e85b6001900380600457600160025260406000f3");
  const [plain, stepping] = [runInCore(code), runInCore(code, {}, "stepping")];
  expect({ ...stepping, returns: 0 }).toEqual({ ...plain, returns: 0 });
  expect(stepping.returns).toBeGreaterThan(6000);
});
