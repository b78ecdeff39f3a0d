import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { type Hex, toHex } from "../../../src/primitives/hex.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { itIfThorough } from "../../thorough.ts";
import { cpuSeconds } from "../harness/cpuSeconds.ts";
import {
  freePort,
  type NodeProcess,
  type RunningProgram,
  rpc,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

/** Sends plain transfers of one account in batches, as fast as they are accepted, until the server closes. */
async function flood(node: NodeProcess): Promise<void> {
  for (let nonce = 0; ; nonce += 500) {
    const calls = Array.from({ length: 500 }, (_, index) => ({
      jsonrpc: "2.0",
      id: index,
      method: "eth_sendRawTransaction",
      params: [toHex(aTransaction({ nonce: BigInt(nonce + index), gasPrice: 1n }).raw)],
    }));
    try {
      const response = await fetch(node.httpUrl, { method: "POST", body: JSON.stringify(calls) });
      await response.text();
    } catch {
      return;
    }
  }
}

itIfThorough("a node that has nothing to do ends without waiting for a thread that has ended", async () => {
  const explorerPort = await freePort();
  const options = ["--explorer-enabled", `--explorer-port=${explorerPort}`];
  const node = await startNodeProcess({ options });
  // The thread that answers it is the last to be there.
  await until(
    async () => (await fetch(`http://127.0.0.1:${explorerPort}/`)).ok || undefined,
    "the explorer's page",
  );
  node.child.kill("SIGTERM");
  await expectStop(node);
  expect(node.output()).not.toContain("did not close its ports in time");
});

describe("stopping in the middle of work", () => {
  itIfThorough("ends in its time while many transactions arrive, and keeps what it answered", async () => {
    const node = await startNodeProcess();
    const flooding = flood(node);
    const mined = await until(async () => {
      const block = await node.rpc<{ transactions: string[] }>("eth_getBlockByNumber", ["latest", false]);
      return block.transactions.at(-1);
    }, "a block with transactions");
    const receipt = await node.rpc("eth_getTransactionReceipt", [mined]);
    node.child.kill("SIGTERM");
    await expectStop(node);
    await flooding;
    expect(node.output()).not.toContain('"level":"ERROR"');
    const restarted = await startNodeProcess({ dataPath: node.dataPath });
    expect(await restarted.rpc("eth_getTransactionReceipt", [mined])).toEqual(receipt);
    expect(await restarted.stop()).toBe(0);
  });

  itIfThorough("ends in its time during a contract that uses the whole time of a block", async () => {
    const folder = temporaryFolder();
    const genesis = JSON.parse(
      readFileSync(join(import.meta.dirname, "..", "..", "..", "genesis", "dev.json"), "utf8"),
    ) as { gasLimit: Hex; config: { ibft2: object }; alloc: Record<string, object> };
    genesis.config.ibft2 = { ...genesis.config.ibft2, blockperiodseconds: PERIOD_SECONDS };
    genesis.gasLimit = "0x77359400";
    genesis.alloc[toHex(ENDLESS)] = { balance: "0x0", code: "0x5b5f56" };
    writeFileSync(join(folder, "genesis.json"), JSON.stringify(genesis));
    const port = await freePort();
    const program = runProgram([
      `--genesis-file=${join(folder, "genesis.json")}`,
      `--node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`,
      "--p2p-enabled=false",
      `--data-path=${join(folder, "data")}`,
      "--rpc-http-enabled",
      `--rpc-http-port=${port}`,
      "--min-gas-price=0",
      "--poa-block-txs-selection-max-time=100",
    ]);
    const call = <T>(method: string, params: readonly unknown[]): Promise<T> =>
      rpc<T>(`http://127.0.0.1:${port}`, method, params);
    const { timestamp } = await until(
      async () =>
        (await call<{ timestamp: Hex } | null>("eth_getBlockByNumber", ["0x1", false]).catch(() => null)) ??
        undefined,
      "the first block",
    );
    const endless = aTransaction({ to: ENDLESS, gasLimit: 1_900_000_000n });
    const hash = await call("eth_sendRawTransaction", [toHex(endless.raw)]);
    const buildsAt = Number(timestamp) + PERIOD_SECONDS;
    await until(async () => (Date.now() / 1000 > buildsAt ? true : undefined), "the time of the block");
    // Little else takes a node of one validator so much of a processor's time.
    const before = cpuSeconds(program);
    await until(async () => (cpuSeconds(program) > before + 0.2 ? true : undefined), "the endless code");
    expect(await call("eth_blockNumber", [])).toBe("0x1");
    expect(await call("eth_getTransactionByHash", [hash])).toMatchObject({ blockNumber: null });
    program.child.kill("SIGTERM");
    await expectStop(program);
    expect(program.output()).not.toContain('"level":"ERROR"');
  });
});

/** JUMPDEST PUSH0 JUMP, for ever. */
const ENDLESS = addressFromHex("0x00000000000000000000000000000000000100b5");
/** Longer than the limit for a stop (src/cli/runNode.ts), so that one that waited for the block would be late. */
const PERIOD_SECONDS = 25;

/** Waits for the end of a node that was told to stop: it says so where something kept it up to its limit. */
async function expectStop(program: RunningProgram): Promise<void> {
  expect(await program.exit).toBe(0);
  expect(program.output()).not.toContain("did not stop in time");
}
