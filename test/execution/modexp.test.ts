import { getActivePrecompiles, type PrecompileInput } from "@ethereumjs/evm";
import { describe, expect, it } from "vitest";
import type { ForkName } from "../../src/chainspec/forks.ts";
import { BlockSession } from "../../src/execution/blockSession.ts";
import type { MessageResult } from "../../src/execution/evm.ts";
import { MemoryExhausted } from "../../src/execution/memoryBudget.ts";
import { precompileAddress } from "../../src/execution/precompiles/addresses.ts";
import { LARGE_BYTES } from "../../src/execution/precompiles/largeNumbers.ts";
import { memoryBounded, NEVER_YIELD, type YieldPolicy } from "../../src/execution/yieldPolicy.ts";
import { concatBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes, bytesToBigint } from "../../src/primitives/quantity.ts";
import { libraryCommon } from "../builders/libraryCommon.ts";
import { account } from "../builders/testAccounts.ts";
import { generator, type Random } from "../storage/random.ts";
import { casesOf, IS_THOROUGH } from "../thorough.ts";
import { anOverlay, theRules } from "./context.ts";

const SEED = 20_261_122;

interface Call {
  readonly data: Uint8Array;
  readonly fork?: ForkName;
  readonly gasLimit?: bigint;
  readonly yieldPolicy?: YieldPolicy;
}

async function callModexp({ data, fork = "prague", gasLimit = 10n ** 12n, yieldPolicy = NEVER_YIELD }: Call) {
  const overlay = anOverlay();
  overlay.beginTransaction();
  const session = new BlockSession({ ...theRules(fork), overlay, yieldPolicy });
  return session.evm.run({
    caller: account(0).address,
    to: precompileAddress(5),
    value: 0n,
    data,
    gasLimit,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
}

function input(base: Uint8Array, exponent: Uint8Array, modulus: Uint8Array): Uint8Array {
  const lengths = [base, exponent, modulus].map(({ length }) => bigintToFixedBytes(BigInt(length), 32));
  return concatBytes(...lengths, base, exponent, modulus);
}

function lengthsOnly(...lengths: readonly bigint[]): Uint8Array {
  return concatBytes(...lengths.map((length) => bigintToFixedBytes(length, 32)));
}

/** The result of the library's own contract: slow, but an independent implementation. */
async function byLibrary(data: Uint8Array, fork: ForkName): Promise<string> {
  const common = libraryCommon(fork);
  const contract = getActivePrecompiles(common).get("5".padStart(40, "0"));
  const call = { data, gasLimit: 10n ** 12n, common };
  const result = await contract?.(call as unknown as PrecompileInput);
  return result === undefined ? "none" : `${result.executionGasUsed} ${toHex(result.returnValue)}`;
}

function summary({ outcome, gasUsed, output }: MessageResult): string {
  return outcome.kind === "succeeded" ? `${gasUsed} ${toHex(output)}` : outcome.kind;
}

/** Numbers with lengths around the sizes at which the algorithm changes, and with runs of zeros and ones. */
function number(random: Random, longest: number): Uint8Array {
  const lengths = [0, 1, 7, 8, 9, 16, 24, 31, 32, 33, 40, random.below(longest + 1)];
  const bytes = random.bytes(Math.min(longest, lengths[random.below(lengths.length)] ?? 0));
  const [from, to] = [random.below(bytes.length + 1), random.below(bytes.length + 1)];
  const kind = random.below(6);
  if (kind === 0) bytes.fill(0, from);
  if (kind === 1) bytes.fill(0, 0, to);
  if (kind === 2) bytes.fill(0xff);
  if (kind === 3 && bytes.length > 0) bytes[bytes.length - 1] = 1;
  if (kind === 4) bytes.fill(0, 0, bytes.length - 1);
  return bytes;
}

describe("MODEXP (0x05)", () => {
  it(`has the library's output and price (seed ${SEED})`, async () => {
    const random = generator(SEED);
    const kinds = new Set<string>();
    for (let run = 0; run < casesOf(3000); run++) {
      const whole = input(number(random, 90), number(random, 60), number(random, 80));
      // Missing bytes at the end count as zeros.
      const data = random.below(8) === 0 ? whole.subarray(0, random.below(whole.length + 1)) : whole;
      const fork = random.below(2) === 0 ? "istanbul" : "prague";
      expect([toHex(data), summary(await callModexp({ data, fork }))]).toEqual([
        toHex(data),
        await byLibrary(data, fork),
      ]);
      kinds.add(`${fork} ${(whole.at(-1) ?? 0) % 2 === 0 ? "even" : "odd"}`);
    }
    expect(kinds.size).toBe(4);
  });

  it.each([LARGE_BYTES, LARGE_BYTES + 1, 40_000, ...(IS_THOROUGH ? [140_000] : [])])(
    "multiplies numbers of %i bytes in parts, for odd and even moduli, and longer and shorter bases",
    async (bytes) => {
      const random = generator(SEED);
      for (const [baseBytes, lastByte] of [
        [bytes, 1],
        [2 * bytes + 77, 2],
        [bytes >> 1, 128],
      ] as const) {
        const [base, modulus] = [random.bytes(baseBytes), random.bytes(bytes)];
        modulus[0] = 0xff;
        modulus[bytes - 1] = lastByte;
        const exponent = Uint8Array.of(0, 5);
        const [b, m] = [bytesToBigint(base), bytesToBigint(modulus)];
        const square = (b * b) % m;
        const expected = (((square * square) % m) * b) % m;
        const { output } = await callModexp({ data: input(base, exponent, modulus) });
        // Compared as numbers: a failure would print a megabyte.
        expect(bytesToBigint(output) === expected && output.length === bytes).toBe(true);
      }
    },
  );

  it("computes in parts where the modulus has many factors of two, or is a power of two", async () => {
    const random = generator(SEED);
    const exponents = [
      [2],
      [33],
      [0x80, 1],
      [0xff, 0xff, 0xff, 0xff],
      [1, 0, 0, 0, 0],
      [0, 0, 1, 2, 3, 4, 5, 6, 7],
    ];
    for (let run = 0; run < casesOf(240); run++) {
      const bytes = [9, 17, 33, 40, 72, 130][run % 6] ?? 0;
      const modulus = random.bytes(bytes);
      modulus[0] = 1 << random.below(8);
      // From one to all but one of the bytes are zero.
      modulus.fill(0, run % 2 === 0 ? 1 : 1 + random.below(bytes - 1));
      const base = random.bytes(1 + random.below(2 * bytes));
      if (run % 3 === 0) base.fill(0, 1 + random.below(base.length));
      const exponent = Uint8Array.from(exponents[random.below(exponents.length)] ?? []);
      const data = input(base, run % 5 === 0 ? random.bytes(bytes) : exponent, modulus);
      expect([toHex(data), summary(await callModexp({ data }))]).toEqual([
        toHex(data),
        await byLibrary(data, "prague"),
      ]);
    }
  });

  it("takes the remainder of a long base by a short modulus", async () => {
    const base = generator(SEED).bytes(100_000);
    const { output } = await callModexp({ data: input(base, Uint8Array.of(1), Uint8Array.of(1, 0, 1)) });
    expect(bytesToBigint(output)).toBe(bytesToBigint(base) % 0x10001n);
  });

  it.each([
    ["no modulus", 0, "0x"],
    ["a modulus of zeros", 3, "0x000000"],
  ])("computes nothing for an exponent of gigabytes with %s", async (_, modulusLength, expected) => {
    const data = concatBytes(lengthsOnly(1n, 2n ** 40n, BigInt(modulusLength)), Uint8Array.of(3, 0xff));
    const { outcome, output } = await callModexp({ data, gasLimit: 10n ** 18n });
    expect([outcome.kind, toHex(output)]).toEqual(["succeeded", expected]);
  });

  it("checks the gas for the lengths before it allocates anything", async () => {
    for (const data of [
      lengthsOnly(2n ** 256n - 1n, 2n ** 256n - 1n, 2n ** 256n - 1n),
      lengthsOnly(1n, 80_000_000n, 1n),
      lengthsOnly(0n, 0n, 2n ** 31n),
    ]) {
      const { outcome, gasUsed } = await callModexp({ data, gasLimit: 10n ** 7n });
      expect(outcome).toEqual({ kind: "halted", reason: "INSUFFICIENT_GAS" });
      expect(gasUsed).toBe(10n ** 7n);
    }
  });

  it("counts the memory of a call with unlimited gas", async () => {
    const data = lengthsOnly(0n, 1n, 2n ** 29n);
    const call = callModexp({ data, gasLimit: 2n ** 63n, yieldPolicy: memoryBounded() });
    await expect(call).rejects.toThrow(MemoryExhausted);
  });
});
