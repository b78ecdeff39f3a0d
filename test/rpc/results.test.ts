import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { blockReceiptsJson, receiptJson } from "../../src/rpc/receiptResult.ts";
import { recordedChain } from "../builders/recordedChain.ts";
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
