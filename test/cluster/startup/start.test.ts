import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { itIfThorough } from "../../thorough.ts";
import {
  freePort,
  type NodeProcess,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../harness/nodeProcess.ts";

/** One folder for most of these tests, in this order: what takes time is the start of a node. */
describe("starting and stopping", () => {
  const dataPath = temporaryFolder();
  let before: { readonly height: string; readonly hash: string } | undefined;
  let resumed: NodeProcess;

  it("runs the development network, which has no peers, prints what a user needs, refuses a second node on its folder, and stops cleanly on SIGTERM", async () => {
    const node = await startNodeProcess({ dataPath });
    const height = await aBlockOf(node);
    for (const fact of [
      "1337",
      `:${node.httpPort}`,
      `:${node.wsPort}`,
      "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
      dataPath,
    ]) {
      expect(node.output().toLowerCase()).toContain(fact.toLowerCase());
    }

    const second = runProgram([
      `--data-path=${dataPath}`,
      `--rpc-http-port=${await freePort()}`,
      `--rpc-ws-port=${await freePort()}`,
    ]);
    expect(await second.exit).toBe(2);
    expect(second.output()).toContain(dataPath);
    expect(second.output()).toMatch(/another (node|process)/i);
    if (process.platform === "linux")
      expect(second.output()).toContain(`in use by process ${node.child.pid}`);
    expect(await node.rpc("net_version")).toBe("1337");
    await expect(node.rpc("net_peerCount")).rejects.toThrow("P2P has been disabled");
    expect(await node.rpc("eth_protocolVersion")).toBe("0x44");

    const block = await node.rpc<{ hash: string }>("eth_getBlockByNumber", [height, false]);
    await endsCleanly(node, "SIGTERM");
    before = { height, hash: block.hash };
  });

  it("refuses a genesis that differs from the stored one", async () => {
    const genesis = JSON.parse(
      readFileSync(join(import.meta.dirname, "..", "..", "..", "genesis", "dev.json"), "utf8"),
    ) as { timestamp: string };
    const other = join(temporaryFolder(), "other.json");
    writeFileSync(other, JSON.stringify({ ...genesis, timestamp: "0x5" }));
    const second = runProgram([`--data-path=${dataPath}`, `--genesis-file=${other}`]);
    expect(await second.exit).toBe(2);
    expect(second.output()).toMatch(/genesis/i);
    expect(second.output()).toContain(dataPath);
  });

  itIfThorough("refuses a busy port, naming it and its option", async () => {
    const port = await freePort();
    const occupant = createServer();
    await new Promise<void>((resolve) => occupant.listen(port, "127.0.0.1", resolve));
    const node = runProgram([
      `--data-path=${temporaryFolder()}`,
      `--rpc-http-port=${port}`,
      `--rpc-ws-port=${await freePort()}`,
    ]);
    expect(await node.exit).toBe(2);
    expect(node.output()).toContain(`${port}`);
    expect(node.output()).toContain("--rpc-http-port");
    occupant.close();
  });

  it("resumes after a stop, and honours options given on the command line", async () => {
    resumed = await startNodeProcess({ dataPath, options: ["--rpc-http-api=ETH,NET", "--network-id=77"] });
    expect(await resumed.rpc("eth_getBlockByNumber", [before?.height, false])).toMatchObject({
      hash: before?.hash,
    });
    expect(await resumed.rpc("net_version")).toBe("77");
    await expect(resumed.rpc("txpool_besuStatistics")).rejects.toMatchObject({ code: -32604 });
  });

  itIfThorough("produces nothing when its key is not a validator's", async () => {
    const ofOther = temporaryFolder();
    writeFileSync(join(ofOther, "key"), `0x${"11".repeat(32)}`);
    const node = await startNodeProcess({ dataPath: ofOther, options: ["--rpc-threads=1"] });
    // The blocks of the validator tell how long the other one has had for one.
    const height = Number(await resumed.rpc<string>("eth_blockNumber"));
    await until(
      async () => (Number(await resumed.rpc<string>("eth_blockNumber")) > height + 2 ? true : undefined),
      "blocks of a validator",
    );
    expect(await node.rpc("eth_blockNumber")).toBe("0x0");
    expect(await node.rpc("eth_mining")).toBe(false);
    expect(await node.stop()).toBe(0);
  });

  it("stops cleanly on SIGINT", () => endsCleanly(resumed, "SIGINT"));
});

/** The number of a block that the node has made. */
function aBlockOf(node: NodeProcess): Promise<string> {
  return until(async () => {
    const number = await node.rpc<string>("eth_blockNumber");
    return Number(number) > 0 ? number : undefined;
  }, "a block");
}

async function endsCleanly(node: NodeProcess, signal: "SIGTERM" | "SIGINT"): Promise<void> {
  node.child.kill(signal);
  expect(await node.exit).toBe(0);
  expect(node.output()).not.toContain("did not stop in time");
}
