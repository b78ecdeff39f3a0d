import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { IN_REAL_TIME } from "../realTime.ts";
import { HAS_DEVP2P_TOOL, runDevp2pTool, SKIPPED_WITHOUT_TOOL } from "./devp2pTool.ts";
import { freePort, type NodeProcess, startNodeProcess } from "./nodeProcess.ts";

const GENESIS = resolve(import.meta.dirname, "..", "..", "genesis", "dev.json");

describe("a node, asked by go-ethereum's devp2p", { ...IN_REAL_TIME, timeout: 120_000 }, () => {
  it.skipIf(!HAS_DEVP2P_TOOL)(`passes the public suite of discovery v4 ${SKIPPED_WITHOUT_TOOL}`, async () => {
    const { node, enode } = await discoverableNode();
    expect(await runDevp2pTool(["discv4", "test", "--remote", enode])).toContain("14/14 tests passed");
    expect(await node.stop()).toBe(0);
  });

  it.skipIf(!HAS_DEVP2P_TOOL)(
    `says Hello to a caller that has not said it: rlpx ping ${SKIPPED_WITHOUT_TOOL}`,
    async () => {
      const { node, enode } = await discoverableNode();
      const hello = await runDevp2pTool(["rlpx", "ping", enode]);
      expect(hello).toContain("Version:5 Name:ibex/");
      for (const shared of ["eth/66", "eth/67", "eth/68", "IBF/1"]) expect(hello).toContain(shared);
      expect(await node.stop()).toBe(0);
    },
  );
});

async function discoverableNode(): Promise<{ readonly node: NodeProcess; readonly enode: string }> {
  const port = await freePort();
  const node = await startNodeProcess({
    options: [
      `--genesis-file=${GENESIS}`,
      "--p2p-enabled=true",
      `--p2p-port=${port}`,
      "--rpc-http-enabled",
      "--rpc-http-api=ADMIN,NET,ETH",
    ],
  });
  const { enode } = await node.rpc<{ readonly enode: string }>("admin_nodeInfo");
  return { node, enode };
}
