import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { type Block, decodeBlock, encodeBlock } from "../../../src/types/block.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { askerOf } from "../asker.ts";

function decoded(bytes: Uint8Array | undefined): Block {
  const block = decodeBlock(bytes ?? new Uint8Array());
  if (!block.ok) throw new Error(block.rejection.message);
  return block.value;
}

describe("blocks that were refused", () => {
  it("can be asked for, once each, with their transactions; what only comes at the wrong time is none", async () => {
    const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
    const ask = askerOf({ ...node, badBlocks: node.chain.badBlocks });
    const transfer = aTransaction();
    const [, first, second] = (await sealedDevBlocks([[transfer], []])).map(decoded);
    if (first === undefined || second === undefined) throw new Error("there are two blocks");
    const bad: Block = { ...first, header: { ...first.header, gasUsed: first.header.gasUsed + 1n } };
    for (const block of [bad, bad, second]) expect((await node.chain.importBlock(block)).ok).toBe(false);
    const [found, ...others] = (await ask("debug_getBadBlocks")) as {
      block: Record<string, unknown>;
      hash: string;
      rlp: string;
    }[];
    expect(others).toEqual([]);
    expect(found?.rlp).toBe(toHex(encodeBlock(bad)));
    expect(decoded(hexToBytes(found?.rlp ?? "")).header).toEqual(bad.header);
    expect(found?.block).toMatchObject({
      hash: found?.hash,
      number: "0x1",
      totalDifficulty: "0x1",
      transactions: [{ hash: toHex(transfer.hash), from: toHex(transfer.sender) }],
    });
  });
});
