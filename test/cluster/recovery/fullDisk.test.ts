import { expect } from "vitest";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { itIfThorough } from "../../thorough.ts";
import { runConfined } from "../harness/confinedProgram.ts";
import { freePort, rpc, startNodeProcess, temporaryFolder, until } from "../harness/nodeProcess.ts";

const BATCH = 500;

/** Limits files to a few megabytes, which looks like a full disk to the program. */
const SMALL_DISK = { first: "ulimit -f 4000" };

itIfThorough(
  "ends when the disk is full, logs the reason, and goes on after a restart with free space",
  async () => {
    const dataPath = temporaryFolder();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const program = runConfined(
      [`--data-path=${dataPath}`, `--rpc-http-port=${port}`, `--rpc-ws-port=${await freePort()}`],
      SMALL_DISK,
    );
    let isOver = false;
    void program.exit.then(() => {
      isOver = true;
    });
    await until(() => rpc<Hex>(url, "eth_blockNumber", []).catch(() => undefined), "an answer");
    const answered: unknown[] = [];
    for (let nonce = 0; !isOver; nonce = await nextNonce(url, nonce)) {
      const batch = Array.from({ length: BATCH }, (_, id) => {
        const { raw } = aTransaction({ nonce: BigInt(nonce + id), gasPrice: 1n });
        return { jsonrpc: "2.0", id, method: "eth_sendRawTransaction", params: [toHex(raw)] };
      });
      // Fails once the server is closed, which is the end that this loop waits for.
      await fetch(url, { method: "POST", body: JSON.stringify(batch) }).catch(() => undefined);
      const receipts = await rpc<unknown[]>(url, "eth_getBlockReceipts", ["latest"]).catch(() => []);
      answered.push(...receipts.slice(0, 1));
    }
    expect(await program.exit).toBe(74);
    expect(program.output()).toContain("cannot be written: ");
    expect(program.output()).toContain("then start the node again.");
    expect(program.output()).toContain("the node stops because of a fatal error");
    const again = await startNodeProcess({ dataPath });
    expect(answered.length).toBeGreaterThan(0);
    for (const receipt of answered) {
      const { transactionHash } = receipt as { transactionHash: Hex };
      expect(await again.rpc("eth_getTransactionReceipt", [transactionHash])).toEqual(receipt);
    }
    const height = Number(await again.rpc<Hex>("eth_blockNumber"));
    await until(
      async () => (Number(await again.rpc<Hex>("eth_blockNumber")) > height ? true : undefined),
      "a new block",
    );
    expect(await again.stop()).toBe(0);
  },
);

/** The sender's next nonce as the node has it, so that a transaction that it did not take leaves no gap before the next batch. */
async function nextNonce(url: string, last: number): Promise<number> {
  const sender = toHex(aTransaction().sender);
  const answer = await rpc<Hex>(url, "eth_getTransactionCount", [sender, "pending"]).catch(() => undefined);
  return answer === undefined ? last : Number(answer);
}
