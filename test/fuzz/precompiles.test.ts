import { describe } from "vitest";
import { testCampaign } from "./evm/campaignTest.ts";
import { drawPrecompileProgram } from "./evm/precompiles/precompileProgram.ts";

/*
 * Programs that call precompiled contracts again and again with inputs at the borders of what these distinguish (numbers
 * beside the modulus, points outside of the group, other spellings, lengths that are off by one), run here and by
 * go-ethereum's `evm`. A program hashes status, cost and output of each call, and stores the hash.
 */
describe("calls of precompiled contracts, here and in go-ethereum", () => {
  testCampaign({
    name: "precompiles",
    source: { program: drawPrecompileProgram, block: undefined },
    dailyPrograms: 40,
    outcomes: 2,
  });
});
