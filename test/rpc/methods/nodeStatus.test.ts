import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/primitives/hex.ts";
import { explorerGetNodeStatus } from "../../../src/rpc/methods/explorer/getNodeStatus.ts";
import type { NodeInfo, UnminedInfo } from "../../../src/rpc/nodeInfo.ts";
import { aChainSpec, aCore, QUIET_NODE, RPC_SETTINGS } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { toyAddress } from "../../builders/toyChain.ts";
import { requesterFor } from "../requester.ts";

function ask(facts: Partial<NodeInfo> = {}): Promise<unknown> {
  const chain = chainOf([aStoredBlock({ number: 0 }), aStoredBlock({ number: 1 })]);
  const ports = {
    chain,
    spec: aChainSpec(chain, { chainId: 7171n, fork: "london" }),
    settings: RPC_SETTINGS,
    node: aCore({ nodeInfo: async () => ({ ...QUIET_NODE, ...facts }) }).node,
  };
  return requesterFor([explorerGetNodeStatus], ports)("explorer_getNodeStatus");
}

describe("explorer_getNodeStatus", () => {
  it("tells the version, the chain, and what the node takes of its machine", async () => {
    expect(
      await ask({
        isInSync: false,
        pauses: ["catchingUp"],
        walletRpc: { port: 8545, isSecure: false, isLocal: true },
      }),
    ).toMatchObject({
      version: "ibex/test",
      chainId: "0x1c03",
      networkId: "0x539",
      fork: "london",
      blockPeriodSeconds: "0x1",
      requestTimeoutSeconds: "0xa",
      startedAt: "0x6553f100",
      isInSync: false,
      pauses: ["catchingUp"],
      peerCount: "0x0",
      maxPeers: "0x19",
      peers: [],
      disk: { freeBytes: "0x3e8", reserveBytes: "0x200", resumeBytes: "0x280", databaseBytes: "0x50" },
      memory: { residentBytes: "0x7", ownBytes: null, mappedBytes: null, limitBytes: "0x9" },
      walletRpc: { port: "0x2161", isSecure: false, isLocal: true },
      openFiles: { open: null, limit: null },
    });
  });

  it("tells the node's own memory from mapped files", async () => {
    const memory = { residentBytes: 7, ownBytes: 5, mappedBytes: 2, limitBytes: 9 };
    expect(await ask({ memory })).toMatchObject({
      memory: { residentBytes: "0x7", ownBytes: "0x5", mappedBytes: "0x2", limitBytes: "0x9" },
    });
  });

  it("shows a hundred peers, validators first, and 64 characters of what each says it is", async () => {
    const outsider = { clientId: "x".repeat(1_000), isInbound: true, validator: undefined };
    const validator = { clientId: "ibex", isInbound: false, validator: toyAddress(1) };
    const status = await ask({ peers: [...Array.from({ length: 150 }, () => outsider), validator] });
    const { peers, peerCount } = status as { peers: readonly { client: string }[]; peerCount: string };
    expect(peerCount).toBe("0x97");
    expect(peers).toHaveLength(100);
    expect(peers[0]).toEqual({ client: "ibex", isInbound: false, validator: toHex(toyAddress(1)) });
    expect(peers[1]?.client).toBe("x".repeat(64));
  });

  it("tells what it has of old blocks and states, and what is still to be removed", async () => {
    expect(await ask()).toMatchObject({
      blockHistory: { firstBlock: "0x0", keptBlocks: null, blocksToRemove: "0x0" },
      stateHistory: { firstBlock: "0x0", keptBlocks: null, blocksToRemove: "0x0" },
    });
    const blockHistory = { start: 400n, kept: 1_024n, left: 300 };
    const stateHistory = { start: 500n, kept: 128n, left: undefined };
    expect(await ask({ blockHistory, stateHistory })).toMatchObject({
      blockHistory: { firstBlock: "0x190", keptBlocks: "0x400", blocksToRemove: "0x12c" },
      stateHistory: { firstBlock: "0x1f4", keptBlocks: "0x80", blocksToRemove: null },
    });
  });

  it("has no peers where peer-to-peer is off", async () => {
    expect(await ask({ peers: undefined })).toMatchObject({ peerCount: null, peers: null });
  });

  it("lists twenty local transactions that no block takes, those that wait longest first", async () => {
    const { hash, sender, nonce } = aTransaction();
    const waitingSince = (addedAtMs: number): UnminedInfo => ({
      hash,
      sender,
      nonce,
      addedAtMs,
      reason: "belowMinGasPrice",
      priceWei: 1n,
      askedWei: 1_000n,
    });
    const unmined = Array.from({ length: 30 }, (_, index) => waitingSince(60_000 - 1_000 * index));
    const status = (await ask({ unmined, unminedCount: unmined.length })) as { unmined: readonly object[] };
    expect(status).toMatchObject({ unminedCount: "0x1e" });
    expect(status.unmined).toHaveLength(20);
    expect(status.unmined[0]).toEqual({
      hash: toHex(aTransaction().hash),
      from: toHex(aTransaction().sender),
      nonce: "0x0",
      since: "0x1f",
      reason: "belowMinGasPrice",
      price: "0x1",
      askedPrice: "0x3e8",
    });
  });
});
