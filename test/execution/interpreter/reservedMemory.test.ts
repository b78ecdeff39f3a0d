import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { BlockSession } from "../../../src/execution/blockSession.ts";
import type { MessageResult } from "../../../src/execution/evm.ts";
import { precompileAddress } from "../../../src/execution/precompiles/addresses.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { concatBytes, toDigits } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { account } from "../../builders/testAccounts.ts";
import { anOverlay, contractAt, theRules } from "../context.ts";

const word = (value: number): Uint8Array => bigintToFixedBytes(BigInt(value), 32);
const words = (...values: number[]): Uint8Array => concatBytes(...values.map(word));
const zeros = (bytes: number): Uint8Array => new Uint8Array(bytes);
const pattern = Uint8Array.from({ length: 1000 }, (_, n) => (n * 7) % 251);

/** The zero polynomial: its commitment and its proof are the point at infinity. */
function zeroProof(): Uint8Array {
  const infinity = zeros(48);
  infinity[0] = 0xc0;
  const hash = Uint8Array.from(createHash("sha256").update(infinity).digest());
  hash[0] = 1;
  return concatBytes(hash, zeros(64), infinity, infinity);
}

/** Valid inputs by contract number. */
const INPUTS: readonly (readonly [number, Uint8Array])[] = [
  [1, words(12345, 27, 1, 1)],
  [2, pattern],
  [3, pattern],
  [4, pattern],
  [5, concatBytes(words(1, 1, 1), Uint8Array.of(3, 5, 7))],
  [6, words(1, 2, 1, 2)],
  [7, words(1, 2, 3)],
  [8, zeros(192)],
  [9, concatBytes(Uint8Array.of(0, 0, 0, 12), pattern.subarray(0, 208), Uint8Array.of(1))],
  [10, zeroProof()],
  [11, zeros(256)],
  [12, zeros(320)],
  [13, zeros(512)],
  [14, zeros(576)],
  [15, zeros(384)],
  [16, words(0, 1)],
  [17, words(0, 1, 0, 2)],
];

describe("a precompiled contract", () => {
  it.each(INPUTS)(
    "%i has the same output with input from large memory as from small",
    async (number, input) => {
      const { output } = await callFrom("", number, input);
      expect(output.at(31)).toBe(1);
      expect(output.length).toBeGreaterThan(32);
      // MSTORE at 6 MB.
      expect((await callFrom("6001630060000052", number, input)).output).toEqual(output);
    },
  );
});

/** Runs the instructions, then calls the contract with the input in memory; returns the success flag and the output. */
async function callFrom(before: string, number: number, input: Uint8Array): Promise<MessageResult> {
  const at = contractAt(1);
  const call = `600060003660006000${`73${toDigits(precompileAddress(number))}`}5af1`;
  const returnResult = "6000523d600060203e3d6020016000f3";
  const overlay = anOverlay([[at, { code: `0x${before}3660006000${"37"}${call}${returnResult}` }]]);
  overlay.beginTransaction();
  return new BlockSession({ ...theRules("prague"), overlay, yieldPolicy: NEVER_YIELD }).evm.run({
    caller: account(0).address,
    to: at,
    value: 0n,
    data: input,
    gasLimit: 10n ** 12n,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
}
