import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PrecompileResult } from "../../src/execution/precompiles/contract.ts";
import { precompiledContract } from "../../src/execution/precompiles/precompiledContracts.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { atOnce } from "../../src/primitives/steps.ts";

/*
 * Inputs at the borders of what Prague's precompiled contracts distinguish, with the answers of go-ethereum 1.16.7's
 * contracts, asked as in scripts/bench/worst/goPrecompiles.ts. They are some that test/fuzz/evm/precompiles draws: points of
 * small orders, other spellings, numbers that are mapped to infinity, signatures whose key is at infinity, odd lengths.
 */
interface Recorded {
  readonly contract: number;
  readonly input: string;
  readonly gas: number;
  /** Or "refused". */
  readonly output: string;
}

const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, "precompileBorders.json"), "utf8"),
) as readonly Recorded[];
const numbers = [...new Set(recorded.map(({ contract }) => contract))].map(
  (number) => [`0x${number.toString(16).padStart(2, "0")}`, number] as const,
);

async function run({ contract: number, input }: Recorded, gasLimit: number): Promise<PrecompileResult> {
  const contract = expectDefined(precompiledContract(number, "prague"), "a precompiled contract");
  await contract.prepare();
  const work = contract.run({
    data: hexToBytes(input),
    gasLimit: BigInt(gasLimit),
    memoryBudget: undefined,
  });
  return "next" in work ? atOnce(work) : work;
}

describe("inputs at the borders of precompiled contracts", () => {
  it.each(numbers)("of %s come to what go-ethereum makes of them", async (_, number) => {
    const cases = recorded.filter(({ contract }) => contract === number);
    expect(cases.length).toBeGreaterThan(5);
    for (const one of cases) {
      const { failure, output, gasUsed } = await run(one, one.gas);
      expect([one.input, failure === undefined ? toHex(output) : "refused"]).toEqual([one.input, one.output]);
      if (failure === undefined) expect(gasUsed).toBe(BigInt(one.gas));
      if (one.gas > 0 && failure === undefined)
        expect((await run(one, one.gas - 1)).failure).toBe("outOfGas");
    }
  });
});
