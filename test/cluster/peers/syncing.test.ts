import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import WebSocket from "ws";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { itIfThorough } from "../../thorough.ts";
import { freePort, startNodeProcess, temporaryFolder, until } from "../harness/nodeProcess.ts";

const NETWORK = [
  `--genesis-file=${DEV_GENESIS_FILE}`,
  "--rpc-http-enabled",
  "--rpc-ws-enabled",
  "--min-gas-price=0",
];

describe("a subscriber to syncing", () => {
  itIfThorough("is notified when the node starts to synchronize, and when it has finished", async () => {
    const port = await freePort();
    const folder = temporaryFolder();
    const start = () =>
      startNodeProcess({
        dataPath: folder,
        options: [...NETWORK, `--p2p-port=${port}`, `--node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`],
      });
    const first = await start();
    const enode = await first.rpc<string>("net_enode");
    const height = await until(async () => {
      const number = Number(await first.rpc("eth_blockNumber"));
      return number >= 10 ? number : undefined;
    }, "ten blocks");
    await first.stop();

    const behind = temporaryFolder();
    writeFileSync(join(behind, "own.key"), "11".repeat(32), { mode: 0o600 });
    writeFileSync(join(behind, "static-nodes.json"), JSON.stringify([enode]));
    const key = `--node-private-key-file=${join(behind, "own.key")}`;
    const follower = await startNodeProcess({
      dataPath: behind,
      options: [...NETWORK, "--p2p-port=0", key],
    });
    const socket = new WebSocket(follower.wsUrl);
    onTestFinished(() => socket.terminate());
    const received: unknown[] = [];
    socket.on("message", (data: Buffer) => received.push(JSON.parse(data.toString("utf8"))));
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["syncing"]}');
    await expect.poll(() => received).toEqual([{ jsonrpc: "2.0", id: 1, result: "0x1" }]);

    // With this limit the node is ready during the whole synchronization, once it knows how far its peer is.
    const objections = new Set<string>();
    const watch = async (): Promise<void> => {
      while (socket.readyState === socket.OPEN)
        for (const reason of await objectionsOf(follower.httpUrl)) objections.add(reason);
    };
    const watching = watch();

    const again = await start();
    const results = () =>
      received.slice(1).map((each) => (each as { params: { result: unknown } }).params.result);
    await expect.poll(results).toContain(false);
    const [target] = results() as { startingBlock: string; currentBlock: string; highestBlock: string }[];
    expect(target).toMatchObject({ startingBlock: "0x0", currentBlock: "0x0" });
    expect(Number(target?.highestBlock)).toBeGreaterThanOrEqual(height);
    socket.terminate();
    await watching;
    objections.delete("it is not known yet how many blocks the peers have");
    expect([...objections]).toEqual([]);
    expect(await follower.stop()).toBe(0);
    await again.stop();
  });
});

async function objectionsOf(httpUrl: string): Promise<readonly string[]> {
  const response = await fetch(`${httpUrl}/readiness?minPeers=0&maxBlocksBehind=100000`);
  const { reasons = [] } = (await response.json()) as { readonly reasons?: readonly string[] };
  return reasons;
}
