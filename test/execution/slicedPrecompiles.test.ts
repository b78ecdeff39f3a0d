import { describe, expect, it } from "vitest";
import { BlockSession } from "../../src/execution/blockSession.ts";
import type { MessageResult } from "../../src/execution/evm.ts";
import { precompileAddress } from "../../src/execution/precompiles/addresses.ts";
import type { PrecompileResult, SlicedWork } from "../../src/execution/precompiles/contract.ts";
import { precompiledContract } from "../../src/execution/precompiles/precompiledContracts.ts";
import {
  createYieldPolicy,
  NEVER_YIELD,
  OutOfTime,
  type YieldPolicy,
} from "../../src/execution/yieldPolicy.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { concatBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { atOnce } from "../../src/primitives/steps.ts";
import { account } from "../builders/testAccounts.ts";
import { itIfThorough } from "../thorough.ts";
import { anOverlay, theRules } from "./context.ts";

const GAS = 10n ** 10n;

async function callPrecompile(
  number: number,
  data: Uint8Array,
  yieldPolicy: YieldPolicy,
): Promise<MessageResult> {
  const overlay = anOverlay();
  overlay.beginTransaction();
  return new BlockSession({ ...theRules("prague"), overlay, yieldPolicy }).evm.run({
    caller: account(0).address,
    to: precompileAddress(number),
    value: 0n,
    data,
    gasLimit: GAS,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
}

/** A policy that is always due, so that work yields after every part. Counts the yields. */
function alwaysDue(): YieldPolicy & { readonly yields: () => number } {
  let yields = 0;
  return {
    isDue: () => true,
    async yield() {
      yields++;
      await Promise.resolve();
    },
    yields: () => yields,
  };
}

const word = (value: bigint | number): Uint8Array => bigintToFixedBytes(BigInt(value), 32);
const ones = (bytes: number): Uint8Array => new Uint8Array(bytes).fill(0xff);

function blake2(rounds: number, filler: number): Uint8Array {
  const fields = new Uint8Array(208).fill(filler);
  return concatBytes(bigintToFixedBytes(BigInt(rounds), 4), fields, Uint8Array.of(1));
}

function power(exponentBytes: number, modulus: Uint8Array): Uint8Array {
  const lengths = [word(1), word(exponentBytes), word(modulus.length)];
  return concatBytes(...lengths, Uint8Array.of(7), ones(exponentBytes), modulus);
}

/** e(P, Q) e(-P, Q) = 1, again and again: the generators of bn254. */
const PAIR_OF_PAIRS = (() => {
  const p = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
  const second = [
    11559732032986387107991004021392285783925812861821192530917403151452391805634n,
    10857046999023057135944570762232829481370756359578518086990519993285655852781n,
    4082367875863433681332203403145435568316851327593401208105741076214120093531n,
    8495653923123431417604973247489272438418190587263600148770280649306958101930n,
  ].map(word);
  return concatBytes(word(1), word(2), ...second, word(1), word(p - 2n), ...second);
})();

/** The generators of BLS12-381, as EIP-2537 encodes them. */
const G1 = hexToBytes(
  `0x${"00".repeat(16)}17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb` +
    `${"00".repeat(16)}08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1`,
);
const G2 = hexToBytes(
  `0x${"00".repeat(16)}024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8` +
    `${"00".repeat(16)}13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e` +
    `${"00".repeat(16)}0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801` +
    `${"00".repeat(16)}0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be`,
);
const times = (count: number, part: Uint8Array): Uint8Array =>
  concatBytes(...Array.from({ length: count }, () => part));

/** Inputs large enough for several parts, with the minimum number of yields. */
const LARGE: readonly (readonly [string, number, Uint8Array, number])[] = [
  ["SHA256", 0x02, ones(3_000_000), 10],
  ["RIPEMD160", 0x03, ones(3_000_000), 10],
  ["IDENTITY", 0x04, ones(9_000_000), 4],
  ["MODEXP, one limb", 0x05, power(20_000, Uint8Array.of(251)), 15],
  ["MODEXP, even", 0x05, power(20_000, Uint8Array.of(3, 250)), 15],
  ["MODEXP, 32 bytes", 0x05, power(9_000, ones(32)), 7],
  ["MODEXP, 200 bytes", 0x05, power(700, ones(200)), 4],
  ["MODEXP, 40,000 bytes", 0x05, power(1, ones(40_000)), 20],
  ["ECPAIRING", 0x08, times(10, PAIR_OF_PAIRS), 6],
  ["BLAKE2F", 0x09, blake2(600_003, 0x5a), 11],
  ["G1MSM", 0x0c, times(100, concatBytes(G1, word(12345))), 3],
  ["G2MSM", 0x0e, times(40, concatBytes(G2, word(12345))), 2],
  ["BLS pairing", 0x0f, times(20, concatBytes(G1, G2)), 6],
];

/** Inputs that take no second part. */
const SMALL: readonly (readonly [string, number, Uint8Array])[] = [
  ["RIPEMD160", 0x03, ones(3)],
  ["ECPAIRING", 0x08, PAIR_OF_PAIRS],
  ["BLAKE2F", 0x09, blake2(3, 0xa5)],
  ["G1MSM", 0x0c, concatBytes(G1, word(3))],
  ["G2MSM", 0x0e, concatBytes(G2, word(3))],
  ["BLS pairing", 0x0f, concatBytes(G1, G2)],
];

describe("precompiled contracts in slices", () => {
  it.each(LARGE)("%s: yields, with the same result", async (_, number, data, minYields) => {
    const expected = await callPrecompile(number, data, NEVER_YIELD);
    expect(expected.outcome.kind).toBe("succeeded");
    const yieldPolicy = alwaysDue();
    const result = await callPrecompile(number, data, yieldPolicy);
    expect([toHex(result.output.subarray(0, 64)), result.gasUsed]).toEqual([
      toHex(expected.output.subarray(0, 64)),
      expected.gasUsed,
    ]);
    expect(Buffer.compare(result.output, expected.output)).toBe(0);
    expect(yieldPolicy.yields()).toBeGreaterThanOrEqual(minYields);
  });

  itIfThorough("keeps interleaved calls apart", async () => {
    const calls: readonly (readonly [number, Uint8Array])[] = [
      [0x09, blake2(500_001, 1)],
      [0x09, blake2(400_007, 2)],
      [0x05, power(9_000, ones(32))],
      [0x05, power(7_000, concatBytes(ones(31), Uint8Array.of(1)))],
      [0x02, ones(2_000_000)],
      [0x03, ones(2_000_000)],
      [0x03, new Uint8Array(1_900_000)],
      [0x08, times(9, PAIR_OF_PAIRS)],
      [0x08, concatBytes(times(8, PAIR_OF_PAIRS), PAIR_OF_PAIRS.subarray(0, 192))],
      [0x0c, times(80, concatBytes(G1, word(12345)))],
      [0x0c, times(100, concatBytes(G1, word(54321)))],
      [0x0e, times(40, concatBytes(G2, word(12345)))],
      [0x0e, times(50, concatBytes(G2, word(54321)))],
      [0x0f, times(20, concatBytes(G1, G2))],
      [0x0f, times(18, concatBytes(new Uint8Array(128), G2))],
    ];
    const alone: string[] = [];
    for (const [number, data] of calls)
      alone.push(toHex((await callPrecompile(number, data, NEVER_YIELD)).output));
    const together = calls.map(([number, data]) => callPrecompile(number, data, alwaysDue()));
    expect((await Promise.all(together)).map(({ output }) => toHex(output))).toEqual(alone);
  });

  it.each(LARGE)("%s: takes nothing from a call that runs before its first part", async (_, number, data) => {
    const contract = expectDefined(precompiledContract(number, "prague"), "a precompiled contract");
    await contract.prepare();
    const call = { gasLimit: GAS, memoryBudget: undefined };
    const finish = (work: PrecompileResult | SlicedWork): string =>
      toHex(("next" in work ? atOnce(work) : work).output);
    const alone = finish(contract.run({ ...call, data }));
    const begun = contract.run({ ...call, data });
    for (const [, otherNumber, other] of [...SMALL, ...LARGE])
      if (otherNumber === number) finish(contract.run({ ...call, data: other }));
    expect(finish(begun)).toBe(alone);
  });

  it.each([
    ["BLAKE2F of 2^32 - 1 rounds", 0x09, blake2(0xffff_ffff, 7)],
    ["MODEXP with a megabyte of exponent", 0x05, power(1_000_000, ones(256))],
    ["ECPAIRING of 2,000 pairs", 0x08, times(1_000, PAIR_OF_PAIRS)],
  ])("%s ends at the deadline", async (_, number, data) => {
    let checks = 0;
    // The deadline has passed when it is looked at for the hundredth time.
    const yieldPolicy = createYieldPolicy({ nowMs: () => ++checks }, { deadlineMs: 100 });
    await expect(callPrecompile(number, data, yieldPolicy)).rejects.toThrow(OutOfTime);
    expect(checks).toBeLessThan(110);
  });
});
