import { describe, expect, it } from "vitest";
import { present } from "../../src/primitives/assert.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { blockJson } from "../../src/rpc/blockResult.ts";
import { blockReceiptsJson, receiptJson } from "../../src/rpc/receiptResult.ts";
import { recordedBlocks, recordedChain } from "../builders/recordedChain.ts";
import { describeWithVectors, readVectorJson } from "../vectors.ts";

describeWithVectors("receipts as a live network showed them", () => {
  describe.each(["net1", "net2"] as const)("%s", (network) => {
    const recorded = readVectorJson<Record<string, unknown>>("besu-ibft", network, "receipts.json");
    const chain = recordedChain(network);

    it("shows each receipt member for member, alone and with its block", () => {
      let compared = 0;
      for (const block of chain.blocks) {
        const texts = block.transactions.map((_, index) => receiptJson(block, index, 0n));
        const expected = block.transactions.map(({ hash }) => JSON.stringify(recorded[toHex(hash)]));
        expect(texts).toEqual(expected);
        expect(blockReceiptsJson(block, 0n)).toBe(`[${expected.join(",")}]`);
        compared += expected.length;
      }
      expect(compared).toBe(Object.keys(recorded).length);
    });
  });
});

describeWithVectors("blocks of later forks as a live node showed them", () => {
  it.each(["staged", "past", "zero"])("shows each block member for member: %s", (stage) => {
    const folder = ["besu-ibft", "prague-25.4.1", stage];
    const recorded = readVectorJson<{ number: string; transactions: { type: string }[] }[]>(
      ...folder,
      "blocks.json",
    );
    const blocks = recordedBlocks(folder);
    for (const expected of recorded) {
      const block = present(blocks[Number(expected.number)], expected.number);
      expect(withShortInputs(blockJson(block, "transactions"))).toBe(JSON.stringify(expected));
    }
    const types = recorded.flatMap(({ transactions }) => transactions.map(({ type }) => type));
    expect(types).toContain("0x4");
  });
});

/** The vectors abbreviate inputs of tens of kilobytes after 100 characters. */
function withShortInputs(json: string): string {
  return json.replace(/("input":"0x[0-9a-f]{98})[0-9a-f]{9000,}/g, "$1...");
}
