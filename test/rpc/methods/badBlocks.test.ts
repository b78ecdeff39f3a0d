import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { type Block, decodeBlock, encodeBlock } from "../../../src/types/block.ts";
import { aChain } from "../../builders/aChain.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { requesterOf } from "../requester.ts";

function decoded(bytes: Uint8Array | undefined): Block {
  const block = decodeBlock(bytes ?? new Uint8Array());
  if (!block.ok) throw new Error(block.error.message);
  return block.value;
}

describe("bad blocks", () => {
  it("are listed once each with their transactions, without blocks that only arrived out of order", async () => {
    const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
    const ask = requesterOf({ ...node, badBlocks: node.chain.badBlocks });
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

  it("are written to trace files, one line per instruction, with memory only on request", async () => {
    const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
    const written: string[] = [];
    const ask = requesterOf({
      ...node,
      badBlocks: node.chain.badBlocks,
      tracer: tracerOf(node.chain, node.spec),
      writeTrace: async (name, pieces) => {
        written.push(joinPieces(pieces));
        return name;
      },
    });
    // PUSH1 2 PUSH1 3 ADD DUP1 MSTORE STOP, as init code.
    const creation = aTransaction({ to: undefined, value: 0n, data: hexToBytes("0x6002600301805200") });
    const [, first] = (await sealedDevBlocks([[creation]])).map(decoded);
    if (first === undefined) throw new Error("there is a block");
    const bad: Block = { ...first, header: { ...first.header, gasUsed: first.header.gasUsed + 1n } };
    expect((await node.chain.importBlock(bad)).ok).toBe(false);
    const [{ hash }] = (await ask("debug_getBadBlocks")) as [{ hash: string }];
    const paths = await ask("debug_standardTraceBadBlockToFile", hash);
    expect(paths).toEqual([
      expect.stringMatching(`^block_${hash.slice(0, 10)}-0-${toHex(creation.hash).slice(0, 10)}-\\d+$`),
    ]);
    const lines = (written[0] ?? "")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { pc: 0, opName: "PUSH1", stack: [] },
      { pc: 2, opName: "PUSH1", stack: ["0x2"] },
      { pc: 4, opName: "ADD", stack: ["0x2", "0x3"], gasCost: "0x3" },
      { pc: 5, opName: "DUP1", stack: ["0x5"] },
      { pc: 6, opName: "MSTORE" },
      { pc: 7, opName: "STOP", stack: [] },
      { output: "", time: 0 },
    ]);
    const memoryIn = (file: string | undefined) => /"memory":/.test(file ?? "");
    expect(memoryIn(written[0])).toBe(false);
    for (const [options, hasMemory] of [
      [{}, false],
      [{ disableMemory: true }, false],
      [{ disableMemory: false }, true],
    ] as const) {
      await ask("debug_standardTraceBadBlockToFile", hash, options);
      expect([options, memoryIn(written.at(-1))]).toEqual([options, hasMemory]);
    }
    expect(await ask("debug_standardTraceBadBlockToFile", `0x${"12".repeat(32)}`)).toMatchObject({
      code: -32000,
      message: "Block not found",
    });
  });
});
