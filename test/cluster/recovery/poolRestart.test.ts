import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { type NodeProcess, startNodeProcess, until } from "../harness/nodeProcess.ts";

const KEEP = "--tx-pool-enable-save-restore";
/** Accepts transactions at any price into the pool, and none below 1,000 wei into a block. */
const WAITING = [KEEP, "--min-gas-price=1000", "--tx-pool-min-gas-price=0", "--tx-pool-no-local-priority"];

function from(who: number, nonce: number, gasPrice: bigint): SentTransaction {
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice });
}

async function send(node: NodeProcess, ...transactions: readonly SentTransaction[]): Promise<void> {
  for (const { raw } of transactions) await node.rpc("eth_sendRawTransaction", [toHex(raw)]);
}

async function pooled(node: NodeProcess): Promise<readonly string[]> {
  const entries =
    await node.rpc<{ hash: string; isReceivedFromLocalSource: boolean }[]>("txpool_nodeTransactions");
  return entries.map(({ hash, isReceivedFromLocalSource }) => `${hash} ${isReceivedFromLocalSource}`);
}

describe("the pool over a restart of the program", () => {
  itIfThorough("is restored in order and with its origins, and is mined", async () => {
    const [first, second, other, beyond] = [
      from(0, 0, 100n),
      from(0, 1, 100n),
      from(1, 0, 200n),
      from(2, 3, 100n),
    ];
    const one = await startNodeProcess({ options: WAITING });
    const { dataPath } = one;
    const file = join(dataPath, "txpool.dump");
    await send(one, first, second, other, beyond);
    expect(await one.stop()).toBe(0);
    expect(one.output()).toContain(`Saved 4 transactions to file ${file}`);

    const lines = readFileSync(file, "latin1").split("\n");
    expect(lines[0]).toBe(`l${Buffer.from(first.raw).toString("base64")}`);
    // One transaction is marked as received from a peer, and one line is damaged.
    writeFileSync(file, [lines[0], lines[1], `r${lines[2]?.slice(1)}`, "lAAAA", lines[3], ""].join("\n"));

    const two = await startNodeProcess({ dataPath, options: WAITING });
    await until(
      async () => ((await pooled(two)).length === 4 ? true : undefined),
      "the pool of the first run",
    );
    expect(await pooled(two)).toEqual([
      `${toHex(first.hash)} true`,
      `${toHex(second.hash)} true`,
      `${toHex(other.hash)} false`,
      `${toHex(beyond.hash)} true`,
    ]);
    expect(await two.rpc("miner_setMinGasPrice", ["0x0"])).toBe(true);
    const receipts = await Promise.all(
      [other, first, second].map(({ hash }) =>
        until(
          async () =>
            (await two.rpc<{ blockNumber: string } | null>("eth_getTransactionReceipt", [toHex(hash)])) ??
            undefined,
          "a receipt",
        ),
      ),
    );
    expect(receipts).toHaveLength(3);
    expect(await pooled(two)).toEqual([`${toHex(beyond.hash)} true`]);
    expect(existsSync(file)).toBe(false);
    expect(await two.stop()).toBe(0);
    expect(two.output()).toContain("a saved transaction is skipped: line 4: ");
    expect(readFileSync(file, "latin1").split("\n")).toHaveLength(2);
  });
});
