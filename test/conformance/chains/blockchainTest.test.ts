import { expect, it } from "vitest";
import { describeWithVectors, readVectorJson } from "../../vectors.ts";
import { type BlockchainTest, runBlockchainTest } from "./blockchainTest.ts";

/** Tests in one file of the vectors, by their titles. */
function testsIn(...path: readonly string[]): BlockchainTest[] {
  return Object.values(readVectorJson<Record<string, BlockchainTest>>("blockchain-tests", ...path));
}

describeWithVectors("the runner of blockchain tests", () => {
  const refusing = testsIn("InvalidBlocks", "bcInvalidHeaderTest", "wrongGasLimit.json");
  const branching = testsIn("ValidBlocks", "bcMultiChainTest", "CallContractFromNotBestBlock.json");

  it.each(branching)("reports nothing for a valid test, $network", async (test) => {
    expect(await runBlockchainTest(test)).toBeUndefined();
  });

  it.each(branching)("notices another head, $network", async (test) => {
    const wrong = { ...test, lastblockhash: test.genesisBlockHeader.hash };
    expect(await runBlockchainTest(wrong)).toMatch(/^the head is 0x/);
  });

  it.each(branching)("notices an account with another balance, $network", async (test) => {
    const [name = "", account] = Object.entries(test.postState ?? {})[0] ?? [];
    if (account === undefined) throw new Error("a test has accounts");
    const postState = { ...test.postState, [name]: { ...account, balance: "0x1" } };
    expect(await runBlockchainTest({ ...test, postState })).toMatch(/balance \d+, expected 1$/);
  });

  it.each(branching)("notices a surplus account, $network", async (test) => {
    const [, ...others] = Object.entries(test.postState ?? {});
    const wrong = { ...test, postState: Object.fromEntries(others) };
    expect(await runBlockchainTest(wrong)).toMatch(/not that of the listed accounts$/);
  });

  it.each(refusing)("notices a refusal for another reason, $network", async (test) => {
    const blocks = test.blocks.map((block) => ({
      ...block,
      ...(block.expectException !== undefined && { expectException: "InvalidStateRoot" }),
    }));
    expect(await runBlockchainTest({ ...test, blocks })).toMatch(/refused for gasLimitJump/);
  });

  it.each(refusing)("notices a block that is wrongly refused, $network", async (test) => {
    const blocks = test.blocks.map(({ rlp }) => ({ rlp }));
    expect(await runBlockchainTest({ ...test, blocks })).toMatch(/^block 0: refused: gasLimitJump/);
  });

  it.each(branching)("notices a block that is wrongly accepted, $network", async (test) => {
    const blocks = test.blocks.map((block) => ({ ...block, expectException: "InvalidStateRoot" }));
    expect(await runBlockchainTest({ ...test, blocks })).toBe("block 0: accepted, expected InvalidStateRoot");
  });
});
