import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { peerToPeerInfo } from "../../../src/node/peers/peerInfo.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { asHash } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import type { NetworkPorts, PeerToPeer } from "../../../src/rpc/core/coreParts.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { NAMESPACES } from "../../../src/rpc/method.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import type { RpcBackend } from "../../../src/rpc/ports.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import { anRpcBackend, aQuietNetwork, RPC_SETTINGS } from "../../builders/anRpcBackend.ts";
import { recordedBlocks } from "../../builders/recordedChain.ts";
import { closeAfterEach, startToy, until } from "../../network/toyNetwork.ts";
import { someOf } from "../../thorough.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";

closeAfterEach();

interface NodeInfo {
  readonly enode: string;
  readonly ip: string;
  readonly id: string;
  readonly name: string;
  readonly ports: { readonly listener: number };
}

interface Recorded<Result> {
  readonly asked_at: number;
  readonly response: { readonly result: Result };
}

type Network = "net1" | "net2";

const recorded = <Result>(network: Network, name: string): Recorded<Result> =>
  readVectorJson("besu-ibft", network, "rpc", "admin", `${name}.json`);

describeWithVectors("admin_nodeInfo", () => {
  it.each(someOf(["net2", "net1"] as const))(
    "answers as the recorded node did, byte for byte: %s",
    async (network) => {
      const { asked_at: at, response } = recorded<NodeInfo>(network, "nodeInfo");
      const { result } = response;
      const node = await aRecordedNode(network, at);
      const answer = await ask("admin_nodeInfo", [], {
        ...node,
        peerToPeer: {
          ...aQuietNetwork(),
          enode: result.enode,
          nodeId: hexToBytes(`0x${result.id}`),
          advertised: { host: result.ip, port: result.ports.listener },
        },
        clientVersion: result.name,
      });
      expect(JSON.stringify(answer)).toBe(JSON.stringify(response));
    },
  );
});

describeWithVectors("admin_peers", () => {
  it("shows an inbound and an outbound peer as Besu does", async () => {
    const { response } = recorded<{ id: string; enode: string }[]>("net2", "peers");
    const head = { totalDifficulty: 402n, headHash: asHash(new Uint8Array(32).fill(7)), version: 68 };
    const [listener, dialer] = [await startToy(1), await startToy(2)];
    dialer.network.addPeer(listener.address);
    await until(() => listener.network.peerCount === 1 && dialer.network.peerCount === 1);
    for (const [self, other, isInbound] of [
      [listener, dialer, true],
      [dialer, listener, false],
    ] as const) {
      const peerToPeer = peerToPeerInfo(
        self.network,
        { advertisedHost: "127.0.0.1", hostNames: "none" as const },
        { nodeId: self.identity.nodeId, headOf: () => head },
      );
      const node = await aRecordedNode("net2", 0);
      const { result } = (await ask("admin_peers", [], { ...node, peerToPeer })) as {
        result: [Record<string, unknown>];
      };
      expect(shapeOf(result[0])).toEqual(shapeOf(response.result[0]));
      const id = toHex(other.identity.nodeId).slice(2);
      const enode = `enode://${id}@127.0.0.1:${other.address.tcpPort}${isInbound ? "?discport=0" : ""}`;
      expect(result).toMatchObject([
        {
          version: "0x5",
          name: `toy/${isInbound ? 2 : 1}`,
          caps: ["toy/1"],
          id,
          port: `0x${other.address.tcpPort.toString(16)}`,
          protocols: { eth: { difficulty: "0x192", head: toHex(head.headHash), version: 68 } },
          enode,
        },
      ]);
      const { localAddress, remoteAddress } = result[0]["network"] as Record<string, string>;
      const listenAddress = `127.0.0.1:${listener.address.tcpPort}`;
      expect(isInbound ? localAddress : remoteAddress).toBe(listenAddress);
    }
  });
});

describe("the enode URL of a peer", () => {
  it.each([
    ["", undefined],
    ["?discport=0", 0],
    ["?discport=30301", 30_301],
  ])("that was dialed ends with '%s' as the URL that named it", async (suffix, udpPort) => {
    const [listener, dialer] = [await startToy(1), await startToy(2)];
    dialer.network.addPeer({ ...listener.address, ...(udpPort !== undefined && { udpPort }) });
    await until(() => dialer.network.peerCount === 1);
    const { peers } = peerToPeerInfo(
      dialer.network,
      { advertisedHost: "127.0.0.1", hostNames: "none" as const },
      { nodeId: dialer.identity.nodeId, headOf: () => undefined },
    );
    const id = toHex(listener.identity.nodeId).slice(2);
    expect(peers[0]?.enode).toBe(`enode://${id}@127.0.0.1:${listener.address.tcpPort}${suffix}`);
  });
});

describeWithVectors("admin_addPeer and admin_removePeer", () => {
  const id = "ab".repeat(64);
  it.each<[what: string, params: readonly unknown[], code: number, message: RegExp]>([
    ["no parameter", [], -32602, /^Invalid params$/],
    ["two parameters", [`enode://${id}@127.0.0.1:1`, 2], -32602, /^Invalid params$/],
    ["text that is not a URL", ["nonsense"], -32700, /^Parse error$/],
    ["a node that does not listen", [`enode://${id}@127.0.0.1:0`], -32700, /^Parse error$/],
    ["a short id", ["enode://abcd@127.0.0.1:1"], -32000, /^Invalid node ID: node ID must have exactly 128/],
    ["an id with 0x", [`enode://0x${id}@127.0.0.1:1`], -32000, /^Invalid node ID/],
    ["a host name", [`enode://${id}@example.org:1`], -32100, /^Enode DNS support is disabled$/],
  ])("refuse %s with Besu's error", async (_, params, code, message) => {
    const self = await startToy(1);
    const node = await aRecordedNode("net2", 0);
    const peerToPeer = factsOf(self);
    for (const method of ["admin_addPeer", "admin_removePeer"]) {
      const answer = await ask(method, params, { ...node, peerToPeer });
      expect(answer).toMatchObject({ error: { code, message: expect.stringMatching(message) } });
    }
  });

  it("refuse a host name that no name server knows, but not where it may be known later", async () => {
    const self = await startToy(1);
    const node = await aRecordedNode("net2", 0);
    const url = `enode://${id}@nowhere.invalid:1`;
    const answer = async (method: string, hostNames: "known" | "any") =>
      await ask(method, [url], { ...node, peerToPeer: factsOf(self, hostNames) });
    for (const method of ["admin_addPeer", "admin_removePeer"])
      expect(await answer(method, "known")).toMatchObject({
        error: { code: -32100, message: "Cannot resolve enode DNS hostname" },
      });
    expect(await answer("admin_addPeer", "any")).toMatchObject({ result: true });
    expect(await answer("admin_removePeer", "any")).toMatchObject({ result: true });
  });

  it("connect and disconnect a node, and return true only the first time", async () => {
    const [self, other] = [await startToy(1), await startToy(2)];
    const node = await aRecordedNode("net2", 0);
    const peerToPeer = factsOf(self);
    const url = `enode://${toHex(other.identity.nodeId).slice(2)}@127.0.0.1:${other.address.tcpPort}`;
    const change = async (method: string) => await ask(method, [url], { ...node, peerToPeer });
    expect(await change("admin_addPeer")).toMatchObject({ result: true });
    expect(await change("admin_addPeer")).toMatchObject({ result: false });
    await until(() => self.network.peerCount === 1);
    expect(await change("admin_removePeer")).toMatchObject({ result: true });
    expect(await change("admin_removePeer")).toMatchObject({ result: false });
    await until(() =>
      other.network.disconnects.some(({ reason, by }) => reason === "requested" && by === "them"),
    );
    expect(self.network.peerCount).toBe(0);
  });
});

describe("without peers", () => {
  it("the ADMIN methods for peers answer that P2P is disabled", async () => {
    const { chain, spec } = await aChain({ genesis: readFileSync("genesis/dev.json", "utf8") });
    for (const [method, params] of [
      ["admin_peers", []],
      ["admin_nodeInfo", []],
      ["admin_addPeer", ["enode://"]],
      ["admin_removePeer", ["enode://"]],
    ] as const)
      expect(await ask(method, params, { chain, spec, peerToPeer: undefined })).toMatchObject({
        error: { code: -32000, message: "P2P has been disabled. This functionality is not available" },
      });
  });
});

type NodeParts = Pick<RpcBackend, "chain" | "spec"> &
  Pick<NetworkPorts, "peerToPeer"> & { readonly clientVersion?: string };

async function ask(
  method: string,
  params: readonly unknown[],
  { chain, spec, peerToPeer, clientVersion = "test" }: NodeParts,
): Promise<unknown> {
  const backend = anRpcBackend({
    chain,
    spec,
    settings: { ...RPC_SETTINGS, networkId: spec.chainId, clientVersion },
    network: { peerToPeer, ethVersion: 68, services: () => ({}) },
  });
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: new Set(NAMESPACES) },
    { backend, logger: silentLogger },
  );
  const request = { jsonrpc: "2.0", id: 1, method, params };
  const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
  return JSON.parse(reply?.text ?? "null");
}

function factsOf(
  self: Awaited<ReturnType<typeof startToy>>,
  hostNames: "none" | "known" | "any" = "none",
): PeerToPeer {
  const settings = { advertisedHost: "127.0.0.1", hostNames };
  return peerToPeerInfo(self.network, settings, { nodeId: self.identity.nodeId, headOf: () => undefined });
}

/** Shared between tests, because none of them changes the chain. */
function aRecordedNode(network: Network, head: number): Promise<RecordedNode> {
  const key = `${network} ${head}`;
  const node = nodes.get(key) ?? importedUpTo(network, head);
  nodes.set(key, node);
  return node;
}

type RecordedNode = Pick<TestChain, "chain" | "spec">;

const nodes = new Map<string, Promise<RecordedNode>>();

async function importedUpTo(network: Network, head: number): Promise<RecordedNode> {
  const genesis = readFileSync(vectorPath("besu-ibft", network, "genesis.json"), "utf8");
  const node = await aChain({ genesis });
  for (const block of recordedBlocks(["besu-ibft", network]).slice(1, head + 1)) {
    const imported = await node.chain.importBlock(block);
    if (!imported.ok) throw new Error(imported.error.message);
  }
  return node;
}

/** Members in order, with the types of their values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.entries(value).map(([name, member]) => [name, shapeOf(member)]);
}
