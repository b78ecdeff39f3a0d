import { describe, expect } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { account } from "../../builders/testAccounts.ts";
import { itIfThorough } from "../../thorough.ts";
import { type NodeProcess, RpcFailure, startNodeProcess, until } from "../harness/nodeProcess.ts";

const SENDERS = 10;
const EACH = 20;
/** Less than what all of them send. */
const POOL_SIZE = 100;

/** Sends the sender's transactions one after the other until one is refused; returns the hashes that were acknowledged. */
async function sendUntilRefused(node: NodeProcess, who: number, from: number): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  for (let nonce = from; nonce < EACH; nonce++) {
    const { raw } = aTransaction({
      privateKey: account(who).privateKey,
      nonce: BigInt(nonce),
      gasPrice: 0n,
    });
    try {
      acknowledged.push(await node.rpc<string>("eth_sendRawTransaction", [toHex(raw)]));
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      expect(error.message).toContain("The transaction pool is full");
      break;
    }
  }
  return acknowledged;
}

async function sendAll(node: NodeProcess, counts: readonly number[]): Promise<string[][]> {
  const runs = counts.map((count, who) => sendUntilRefused(node, who, count));
  return (await Promise.all(runs)).map((run) => [...run]);
}

async function isMined(node: NodeProcess, hash: string): Promise<boolean> {
  return (await node.rpc("eth_getTransactionReceipt", [hash])) !== null;
}

describe("senders that send as fast as they are answered, to a pool that is too small for them", () => {
  itIfThorough("lose nothing that was acknowledged, and get the rest mined by sending it again", async () => {
    const node = await startNodeProcess({ options: [`--tx-pool-max-size=${POOL_SIZE}`] });
    expect(await node.rpc("miner_stop")).toBe(true);
    const acknowledged = await sendAll(
      node,
      Array.from({ length: SENDERS }, () => 0),
    );
    expect(acknowledged.flat()).toHaveLength(POOL_SIZE);
    const pooled = await node.rpc<{ hash: string }[]>("txpool_nodeTransactions");
    expect(new Set(pooled.map(({ hash }) => hash))).toEqual(new Set(acknowledged.flat()));

    expect(await node.rpc("miner_start")).toBe(true);
    await until(async () => {
      const more = await sendAll(
        node,
        acknowledged.map(({ length }) => length),
      );
      for (const [who, hashes] of more.entries()) acknowledged[who]?.push(...hashes);
      return acknowledged.flat().length === SENDERS * EACH ? true : undefined;
    }, "room for all");
    for (const hash of acknowledged.flat()) {
      await until(async () => (await isMined(node, hash)) || undefined, "a receipt");
    }
  });
});
