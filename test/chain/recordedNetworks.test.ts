import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { encodeReceipt } from "../../src/types/receipt.ts";
import { aChain } from "../builders/aChain.ts";
import { recordedBlocks } from "../builders/recordedChain.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../vectors.ts";

/** Chains that real validators of the incumbent sealed: votes, epochs, rounds above 0, forks by time. */
const NETWORKS: readonly RecordedNetwork[] = [
  { folder: ["besu-ibft", "net1"] },
  { folder: ["besu-ibft", "net2"] },
  { folder: ["besu-ibft", "net3"] },
  { folder: ["besu-ibft", "net4"] },
  { folder: ["besu-ibft", "prague-25.4.1", "staged"], withoutBls: 61n },
  { folder: ["besu-ibft", "prague-25.4.1", "past"], withoutBls: 263n },
  { folder: ["besu-ibft", "prague-25.4.1", "zero"], withoutBls: 52n },
];

interface RecordedNetwork {
  readonly folder: readonly string[];
  /** Block that calls a BLS12-381 precompile, which the build that was recorded did not have: it burnt all gas. */
  readonly withoutBls?: bigint;
}

describeWithVectors("chains recorded from live networks", () => {
  it.each(NETWORKS.map((network) => [network.folder.slice(1).join("/"), network] as const))(
    "imports every block of %s by all rules, seals and state roots included",
    async (_, { folder, withoutBls }) => {
      const { chain } = await aChain({
        genesis: readFileSync(vectorPath(...folder, "genesis.json"), "utf8"),
      });
      const recorded = recordedBlocks(folder);
      const last = withoutBls === undefined ? BigInt(recorded.length - 1) : withoutBls - 1n;
      expect(toHex(chain.genesis.hash)).toBe(toHex(recorded[0]?.hash ?? new Uint8Array()));
      for (const block of recorded.slice(1, Number(last) + 1)) {
        const { header, transactions, ommers } = block;
        const imported = await chain.importBlock({ header, transactions, ommers });
        if (!imported.ok) throw new Error(`block ${header.number}: ${imported.rejection.message}`);
        expect(toHex(imported.value.hash)).toBe(toHex(block.hash));
      }
      expect(chain.head.header.number).toBe(last);
      const next = recorded[Number(last) + 1];
      if (next !== undefined) {
        expect(await chain.importBlock(next)).toMatchObject({
          ok: false,
          rejection: { code: "wrongGasUsed" },
        });
        expect(chain.head.header.number).toBe(last);
      }
    },
    60_000,
  );

  it.each(["net1", "net2"])("keeps the receipts that the incumbent kept, %s", async (network) => {
    const folder = ["besu-ibft", network];
    const { chain } = await aChain({ genesis: readFileSync(vectorPath(...folder, "genesis.json"), "utf8") });
    const receipts = readVectorJson<Record<string, string[]>>(...folder, "receipts-rlp.json");
    for (const { header, transactions, ommers } of recordedBlocks(folder).slice(1)) {
      await chain.importBlock({ header, transactions, ommers });
    }
    for (const [number, expected] of Object.entries(receipts)) {
      const block = chain.blockByNumber(BigInt(number));
      expect(block?.receipts.map((receipt) => toHex(encodeReceipt(receipt)))).toEqual(expected);
    }
  });
});
