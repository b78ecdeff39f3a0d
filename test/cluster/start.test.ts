import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freePort, runProgram, startNodeProcess, temporaryFolder, until } from "./nodeProcess.ts";

describe("starting and stopping", () => {
  it("runs the development network, prints what a user needs, and stops cleanly on SIGTERM and SIGINT", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const node = await startNodeProcess();
      const block = await until(
        async () => ((await node.rpc<string>("eth_blockNumber")) > "0x0" ? "made" : undefined),
        "a block",
      );
      expect(block).toBe("made");
      for (const fact of [
        "1337",
        `:${node.httpPort}`,
        `:${node.wsPort}`,
        "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
        node.dataPath,
      ]) {
        expect(node.output().toLowerCase()).toContain(fact.toLowerCase());
      }
      node.child.kill(signal);
      expect(await node.exit).toBe(0);
      expect(node.output()).not.toContain("did not stop in time");
    }
  });

  it("resumes after a stop", async () => {
    const first = await startNodeProcess();
    const height = await until(async () => {
      const number = Number(await first.rpc<string>("eth_blockNumber"));
      return number > 0 ? number : undefined;
    }, "a block");
    const block = await first.rpc<{ hash: string }>("eth_getBlockByNumber", [
      `0x${height.toString(16)}`,
      false,
    ]);
    await first.stop();
    const second = await startNodeProcess({ dataPath: first.dataPath });
    expect(await second.rpc("eth_getBlockByNumber", [`0x${height.toString(16)}`, false])).toMatchObject({
      hash: block.hash,
    });
    await second.stop();
  });

  it("refuses a second node on the same data folder, and the first goes on", async () => {
    const first = await startNodeProcess();
    const second = runProgram([
      `--data-path=${first.dataPath}`,
      `--rpc-http-port=${await freePort()}`,
      `--rpc-ws-port=${await freePort()}`,
    ]);
    expect(await second.exit).toBe(2);
    expect(second.output()).toContain(first.dataPath);
    expect(second.output()).toMatch(/another (node|process)/i);
    if (process.platform === "linux")
      expect(second.output()).toContain(`in use by process ${first.child.pid}`);
    expect(await first.rpc("net_version")).toBe("1337");
    await first.stop();
  });

  it("refuses a busy port, naming it and its option", async () => {
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

  it("refuses a genesis that differs from the stored one", async () => {
    const first = await startNodeProcess();
    await first.stop();
    const genesis = JSON.parse(
      readFileSync(join(import.meta.dirname, "..", "..", "genesis", "dev.json"), "utf8"),
    ) as { timestamp: string };
    const other = join(temporaryFolder(), "other.json");
    writeFileSync(other, JSON.stringify({ ...genesis, timestamp: "0x5" }));
    const second = runProgram([`--data-path=${first.dataPath}`, `--genesis-file=${other}`]);
    expect(await second.exit).toBe(2);
    expect(second.output()).toMatch(/genesis/i);
    expect(second.output()).toContain(first.dataPath);
  });

  it("produces nothing when its key is not a validator's", async () => {
    const dataPath = temporaryFolder();
    writeFileSync(join(dataPath, "key"), `0x${"11".repeat(32)}`);
    const node = await startNodeProcess({ dataPath });
    // Its blocks tell how long the other one has had for one.
    const validator = await startNodeProcess();
    await until(
      async () => (Number(await validator.rpc<string>("eth_blockNumber")) > 2 ? true : undefined),
      "blocks of a validator",
    );
    expect(await node.rpc("eth_blockNumber")).toBe("0x0");
    expect(await node.rpc("eth_mining")).toBe(false);
    expect(await node.stop()).toBe(0);
    await validator.stop();
  });

  it("honours options given on the command line", async () => {
    const node = await startNodeProcess({ options: ["--rpc-http-api=ETH,NET", "--network-id=77"] });
    expect(await node.rpc("net_version")).toBe("77");
    await expect(node.rpc("txpool_besuStatistics")).rejects.toMatchObject({ code: -32604 });
    await node.stop();
  });
});
