import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import { aChain } from "../../builders/aChain.ts";
import { poolOf } from "../../builders/anRpcBackend.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { sealedDevBlocks } from "../../builders/sealedChain.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { type Ask, requesterOf } from "../requester.ts";

/** A transfer, a creation that logs nothing and stores 1 in slot 0, and another transfer, in one block. */
const TRANSACTIONS = [
  aTransaction({ type: 0, nonce: 0n }),
  aTransaction({
    nonce: 1n,
    to: undefined,
    value: 0n,
    data: hexToBytes("0x600160005500"),
    gasLimit: 100_000n,
  }),
  aTransaction({ nonce: 2n, value: 7n }),
];
const POOLED = aTransaction({ nonce: 3n });
const UNKNOWN = `0x${"12".repeat(32)}`;

let ask: Ask;

beforeAll(async () => {
  const node = await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") });
  const [, first] = await sealedDevBlocks([TRANSACTIONS]);
  const block = decodeBlock(expectDefined(first, "a block"));
  if (!block.ok) throw new Error(block.error.message);
  const imported = await node.chain.importBlock(block.value);
  if (!imported.ok) throw new Error(imported.error.message);
  ask = requesterOf({ ...node, tracer: tracerOf(node.chain, node.spec), pool: poolOf([POOLED]) });
});

describe("raw transactions", () => {
  it("are found by hash, in a block or in the pool, in the bytes that were sent", async () => {
    for (const { hash, raw } of [...TRANSACTIONS, POOLED])
      expect(await ask("eth_getRawTransactionByHash", toHex(hash))).toBe(toHex(raw));
    expect(await ask("eth_getRawTransactionByHash", UNKNOWN)).toBe("0x");
    expect(await ask("eth_getRawTransactionByHash", "0x12")).toMatchObject({ code: -32602 });
  });

  it("are found by their index in a block", async () => {
    const { hash } = (await ask("eth_getBlockByNumber", "latest", false)) as { hash: string };
    for (const [index, { raw }] of TRANSACTIONS.entries()) {
      const position = `0x${index}`;
      expect(await ask("eth_getRawTransactionByBlockNumberAndIndex", "0x1", position)).toBe(toHex(raw));
      expect(await ask("eth_getRawTransactionByBlockHashAndIndex", hash, position)).toBe(toHex(raw));
    }
    expect(await ask("eth_getRawTransactionByBlockNumberAndIndex", "latest", "0x3")).toBe("0x");
    expect(await ask("eth_getRawTransactionByBlockNumberAndIndex", "0x9", "0x0")).toBe("0x");
    expect(await ask("eth_getRawTransactionByBlockHashAndIndex", UNKNOWN, "0x0")).toBe("0x");
  });
});

describe("trace_replayTransaction", () => {
  it("is the transaction's item of trace_replayBlockTransactions", async () => {
    for (const types of [["trace"], ["stateDiff"], ["vmTrace"], ["trace", "stateDiff", "vmTrace"], []]) {
      const all = (await ask("trace_replayBlockTransactions", "0x1", types)) as readonly object[];
      expect(all).toHaveLength(TRANSACTIONS.length);
      for (const [index, { hash }] of TRANSACTIONS.entries())
        expect(await ask("trace_replayTransaction", toHex(hash), types)).toEqual(all[index]);
    }
  });

  it("is null for a transaction that is not in a block, and requires trace types", async () => {
    for (const hash of [UNKNOWN, toHex(POOLED.hash)])
      expect(await ask("trace_replayTransaction", hash, ["trace"])).toBeNull();
    const mined = toHex(expectDefined(TRANSACTIONS[0], "a transaction").hash);
    for (const params of [[mined], [mined, ["all"]], ["0x12", ["trace"]]])
      expect(await ask("trace_replayTransaction", ...params)).toMatchObject({ code: -32602 });
  });
});
