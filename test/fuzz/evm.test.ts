import { describe } from "vitest";
import { testCampaign } from "./evm/campaignTest.ts";
import { drawBlock, drawProgram } from "./evm/program.ts";

/*
 * Random programs over all instructions and forks, run here and by go-ethereum's `evm` (the command that GO_EVM names,
 * else the one on the path), each with gas limits at which it stops anywhere. The state root says what was paid and
 * written, the hash of the logs what was logged, and what a called contract returned and had left.
 */
describe("programs, here and in go-ethereum", () => {
  testCampaign({
    name: "evm",
    source: { program: drawProgram, block: drawBlock },
    dailyPrograms: 300,
    outcomes: 9,
  });
});
