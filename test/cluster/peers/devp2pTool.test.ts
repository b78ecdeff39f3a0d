import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import {
  HAS_DEVP2P_TOOL,
  runDevp2pTool,
  SKIPPED_WITHOUT_CHAIN,
  SKIPPED_WITHOUT_TOOL,
  SUITE_CHAIN,
} from "../harness/devp2pTool.ts";
import { freePort, type NodeProcess, startNodeProcess } from "../harness/nodeProcess.ts";
import { startSuiteNode } from "../harness/suiteNode.ts";

const GENESIS = resolve(import.meta.dirname, "..", "..", "..", "genesis", "dev.json");

describe("a node, asked by go-ethereum's devp2p", () => {
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

/** All cases of the suite of eth/67 and eth/68. */
const ETH_CASES = [
  "Status",
  "GetBlockHeaders",
  "SimultaneousRequests",
  "SameRequestID",
  "ZeroRequestID",
  "GetBlockBodies",
  "MaliciousHandshake",
  "MaliciousStatus",
  "LargeTxRequest",
  "Transaction",
  "InvalidTxs",
  "NewPooledTxs",
  "BlobViolations",
];

/**
 * Cases that do not pass, with what the suite says. InvalidTxs sends transactions with the nonces, the price and the tip of
 * pooled ones, and expects none to be relayed. The tip is zero, since the price is the base fee; raised by the price bump
 * of ten per cent zero is zero, so they replace the pooled ones, as in Besu 24.7 (json-rpc.md#eth_sendrawtransaction).
 */
const EXPECTED_FAILURES: Readonly<Record<string, RegExp>> = { InvalidTxs: /received bad tx/ };

describe("a node that holds the chain of go-ethereum's suite", () => {
  const isHere = HAS_DEVP2P_TOOL && SUITE_CHAIN !== undefined;
  it.skipIf(!isHere)(`passes the public suite of eth: rlpx eth-test ${SKIPPED_WITHOUT_CHAIN}`, async () => {
    const chain = SUITE_CHAIN ?? "";
    const node = await startSuiteNode(chain);
    const output = await runDevp2pTool([
      ...["rlpx", "eth-test", "--chain", chain, "--node", node.enode],
      ...["--engineapi", node.engineUrl, "--jwtsecret", `0x${"11".repeat(32)}`],
    ]);
    await node.close();
    const outcomes = [...output.matchAll(/^-- RUN (\w+)\n(.*?)^-- (OK|FAIL) /gms)];
    expect(outcomes.map(([, name]) => name)).toEqual(ETH_CASES);
    for (const [, name = "", said, outcome] of outcomes) {
      const expected = EXPECTED_FAILURES[name];
      expect({ name, outcome, said }).toMatchObject({
        name,
        outcome: expected === undefined ? "OK" : "FAIL",
        said: expect.stringMatching(expected ?? /^/),
      });
    }
    expect(new Set(node.posted)).toEqual(new Set(["engine_forkchoiceUpdatedV3"]));
  });
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
