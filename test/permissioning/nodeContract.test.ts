import { readFileSync } from "node:fs";
import { encodeFunctionData, parseAbi } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { parseEnode } from "../../src/config/enode.ts";
import { loadInterpreter } from "../../src/execution/blockSession.ts";
import type { SimulationJob, SimulationResult } from "../../src/execution/simulation/callRequest.ts";
import { runSimulation } from "../../src/execution/simulation/runSimulation.ts";
import { NEVER_YIELD } from "../../src/execution/yieldPolicy.ts";
import { ipBytes, ipText } from "../../src/network/discovery/endpoint.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { HeadCalls } from "../../src/permissioning/contract/headCalls.ts";
import { NodeContract } from "../../src/permissioning/contract/nodeContract.ts";
import {
  connectionPayload,
  type NodeEndpoint,
  nodePayload,
  urlHost,
} from "../../src/permissioning/contract/nodePayload.ts";
import { NodePermissions } from "../../src/permissioning/contract/nodePermissions.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { toDigits, toHex } from "../../src/primitives/hex.ts";
import { aChain } from "../builders/aChain.ts";
import { createHandClock } from "../builders/handClock.ts";
import { permissionRules } from "../contracts/permissionRules.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";

const CONTRACT = addressFromHex("0x0000000000000000000000000000000000001234");
const { NodeRules } = permissionRules();

function endpoint(url: string): NodeEndpoint {
  const parsed = parseEnode(url);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const { nodeId, host, tcpPort = 0 } = parsed.value;
  const text = ipText(ipBytes(host));
  return { nodeId, ip: ipBytes(text), host: text, tcpPort };
}

const node = (digit: string, host: string, port = 30303) =>
  endpoint(`enode://${digit.repeat(128)}@${host}:${port}`);
const ONE = node("1", "10.0.0.1");
const TWO = node("2", "10.0.0.2", 40404);

describe("the call about a node", () => {
  it("of version 1 has both nodes, by the halves of their ids, IP addresses and ports", () => {
    const abi = parseAbi([
      "function connectionAllowed(bytes32,bytes32,bytes16,uint16,bytes32,bytes32,bytes16,uint16) view returns (bytes32)",
    ]);
    const half = (digit: string) => `0x${digit.repeat(64)}` as const;
    const args = [
      ...[half("1"), half("1"), "0x00000000000000000000ffff0a000001", 30303],
      ...[half("2"), half("2"), "0x20010db8000000000000000000000001", 40404],
    ] as const;
    const six = node("2", "[2001:db8::1]", 40404);
    expect(toHex(connectionPayload({ source: ONE, destination: six }))).toBe(
      encodeFunctionData({ abi, args: args as never }),
    );
  });

  it.each([
    ["10.0.0.1", "10.0.0.1"],
    ["[2001:db8::1]", "[2001:db8::1]"],
    ["[::ffff:7f00:1]", "127.0.0.1"],
  ])("of version 2 names the host %s as %s, as Besu does", (host, text) => {
    const abi = parseAbi(["function connectionAllowed(string,string,uint16) view returns (bool)"]);
    const asked = node("a", host);
    expect(toHex(nodePayload(asked, urlHost(asked)))).toBe(
      encodeFunctionData({ abi, args: ["a".repeat(128), text, 30303] }),
    );
  });
});

/** A contract with these answers, by the payload's digits; those in \`slow\` come later. */
function aContract(
  version: 1 | 2,
  answer: (digits: string) => SimulationResult | undefined,
  nameOf: (ip: string) => Promise<string | undefined> = async () => undefined,
) {
  const head = { hash: new Uint8Array(32), header: { number: 1n } };
  let changes = 0;
  const asked: string[] = [];
  const later = new Map<string, (result: SimulationResult) => void>();
  const contract = new NodeContract(
    { address: CONTRACT, version },
    {
      calls: {
        head: head as never,
        runNow(_, data) {
          asked.push(toDigits(data));
          return answer(toDigits(data));
        },
        run: (_, data) => new Promise((resolve) => later.set(toDigits(data), resolve)),
      },
      nameOf,
      clock: createHandClock(0),
      logger: silentLogger,
      metrics: undefined,
    },
  );
  contract.whenChanged(() => changes++);
  return { contract, head, asked, later, changes: () => changes };
}

const word = (first: number, others: number, last = others): SimulationResult => {
  const data = new Uint8Array(32).fill(others);
  data[0] = first;
  data[31] = last;
  return { kind: "returned", data, gas: 1n };
};
const YES_1 = word(0xff, 0xff);
const NO_1 = word(0x7f, 0xff);
const YES_2 = word(0, 0, 1);
const NO_2 = word(0, 0);
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a node contract", () => {
  const asking = { source: ONE, destination: TWO };

  it.each([
    ["version 1, yes", 1, YES_1, "permitted"],
    ["version 1, no", 1, NO_1, "denied"],
    ["version 1, the yes of version 2", 1, YES_2, "unknown"],
    ["version 2, yes", 2, YES_2, "permitted"],
    ["version 2, the yes of version 1", 2, YES_1, "unknown"],
    ["a revert", 1, { kind: "reverted", data: new Uint8Array(), gas: 1n }, "unknown"],
    ["a short answer", 2, { kind: "returned", data: new Uint8Array(31), gas: 1n }, "unknown"],
  ] as const)("that answers %s", (_, version, result, permission) => {
    expect(aContract(version, () => result).contract.permits(asking, "peer")).toBe(permission);
  });

  it("of version 2 must permit both nodes", async () => {
    const denies = toDigits(new TextEncoder().encode("2".repeat(128)));
    const { contract } = aContract(
      2,
      (digits) => (digits.includes(denies) ? NO_2 : YES_2),
      async (ip) => ip,
    );
    contract.permits(asking, "peer");
    await settled();
    expect(contract.permits(asking, "peer")).toBe("denied");
    expect(contract.permits({ source: TWO, destination: ONE }, "peer")).toBe("denied");
    expect(contract.permits({ source: ONE, destination: ONE }, "peer")).toBe("permitted");
  });

  it("of version 2 is asked by the address's name, once that is known", async () => {
    const name = toDigits(new TextEncoder().encode("two.example"));
    const { contract, changes } = aContract(
      2,
      (digits) =>
        digits.includes(name) || digits.includes(toDigits(new TextEncoder().encode("10.0.0.1")))
          ? YES_2
          : NO_2,
      async () => "two.example",
    );
    expect(contract.permits(asking, "peer")).toBe("unknown");
    await settled();
    expect(changes()).toBe(1);
    expect(contract.permits(asking, "peer")).toBe("permitted");
  });

  it("is asked once of a connection at one head, and again at the next", () => {
    const { contract, head, asked } = aContract(1, () => YES_1);
    contract.permits(asking, "peer");
    contract.permits(asking, "peer");
    expect(asked).toHaveLength(1);
    head.hash = new Uint8Array(32).fill(1);
    contract.permits(asking, "peer");
    expect(asked).toHaveLength(2);
  });

  it("whose answer takes long is unknown at first, then as before, and tells when it changes", async () => {
    let isSlow = true;
    const { contract, head, later, changes } = aContract(1, () => (isSlow ? undefined : NO_1));
    expect(contract.permits(asking, "peer")).toBe("unknown");
    for (const resolve of later.values()) resolve(YES_1);
    await settled();
    expect(changes()).toBe(1);
    expect(contract.permits(asking, "peer")).toBe("permitted");
    head.hash = new Uint8Array(32).fill(1);
    expect(contract.permits(asking, "peer")).toBe("permitted");
    isSlow = false;
    head.hash = new Uint8Array(32).fill(2);
    expect(contract.permits(asking, "peer")).toBe("denied");
  });

  it.each([{ kind: "busy" }, { kind: "timedOut", limitMs: 5000 }, { kind: "tooLarge" }] as const)(
    "that was not given the time or memory to answer ($kind) has its earlier answer, and is asked again",
    async (undecided) => {
      let isSlow = false;
      const { contract, head, later, changes } = aContract(1, () => (isSlow ? undefined : YES_1));
      contract.permits(asking, "peer");
      isSlow = true;
      for (const digit of [1, 2]) {
        head.hash = new Uint8Array(32).fill(digit);
        expect(contract.permits(asking, "peer")).toBe("permitted");
        for (const resolve of later.values()) resolve(undecided);
        await settled();
        expect(contract.permits(asking, "peer")).toBe("permitted");
      }
      expect(changes()).toBe(0);
      for (const resolve of later.values()) resolve(NO_1);
      await settled();
      expect(changes()).toBe(1);
      expect(contract.permits(asking, "peer")).toBe("denied");
    },
  );

  it("that is asked already is not asked again at the same head", async () => {
    const { contract, head, asked, later } = aContract(1, () => undefined);
    for (let count = 0; count < 3; count++) contract.permits(asking, "peer");
    expect(asked).toHaveLength(1);
    head.hash = new Uint8Array(32).fill(1);
    for (let count = 0; count < 3; count++) contract.permits(asking, "peer");
    expect(asked).toHaveLength(2);
    for (const resolve of later.values()) resolve(YES_1);
    await settled();
    expect(contract.permits(asking, "peer")).toBe("permitted");
    expect(asked).toHaveLength(3);
  });
});

describe("a node contract that answers slowly", () => {
  const manyNodes = (count: number, from = 1) =>
    Array.from({ length: count }, (_, index) => ({
      source: node("3", "10.1.0.1", from + index),
      destination: ONE,
    }));

  it("is asked about peers and newcomers, however many datagrams raise questions", async () => {
    const { contract, later } = aContract(1, () => undefined);
    for (const outsider of manyNodes(200)) contract.permits(outsider, "datagram");
    const places = later.size;
    expect(places).toBeLessThan(200);
    for (const outsider of manyNodes(200, 1000)) contract.permits(outsider, "newcomer");
    const newcomers = later.size - places;
    expect(newcomers).toBeGreaterThan(0);
    expect(newcomers).toBeLessThan(200);
    expect(contract.permits({ source: ONE, destination: TWO }, "peer")).toBe("unknown");
    expect(later.size).toBe(places + newcomers + 1);
    for (const resolve of later.values()) resolve(YES_1);
    await settled();
    expect(contract.permits({ source: ONE, destination: TWO }, "peer")).toBe("permitted");
  });

  it("answers at once about a newcomer that was found by datagrams, and keeps that answer", async () => {
    const { contract, later, head } = aContract(1, () => undefined);
    const found = { source: ONE, destination: TWO };
    contract.permits(found, "datagram");
    for (const resolve of later.values()) resolve(YES_1);
    await settled();
    expect(contract.permits(found, "newcomer")).toBe("permitted");
    for (const outsider of manyNodes(200)) contract.permits(outsider, "datagram");
    head.hash = new Uint8Array(32).fill(1);
    expect(contract.permits(found, "newcomer")).toBe("permitted");
  });

  it("keeps its answers about peers, however many datagrams raise questions", () => {
    const head = { isSlow: false };
    const { contract, head: chainHead } = aContract(1, () => (head.isSlow ? undefined : YES_1));
    const peer = { source: ONE, destination: TWO };
    contract.permits(peer, "peer");
    for (const outsider of manyNodes(5000)) contract.permits(outsider, "datagram");
    head.isSlow = true;
    chainHead.hash = new Uint8Array(32).fill(1);
    expect(contract.permits(peer, "peer")).toBe("permitted");
    expect(contract.permits(peer, "datagram")).toBe("permitted");
  });

  it("has peers reviewed again, once those have an answer for which there was no place", async () => {
    const { contract, later, changes } = aContract(1, () => undefined);
    const peers = manyNodes(100);
    const review = () => peers.map((peer) => contract.permits(peer, "peer"));
    let reviews = 0;
    for (review(); later.size > 0; reviews++) {
      const before = changes();
      const asked = [...later.values()];
      later.clear();
      for (const resolve of asked) resolve(YES_1);
      await settled();
      if (changes() > before) review();
    }
    expect(new Set(review())).toEqual(new Set(["permitted"]));
    expect(reviews).toBeGreaterThan(1);
  });

  it("has no peers reviewed again while there is no time for any", async () => {
    const { contract, later, changes } = aContract(1, () => undefined);
    for (const peer of manyNodes(100)) contract.permits(peer, "peer");
    for (const resolve of later.values()) resolve({ kind: "busy" });
    await settled();
    expect(changes()).toBe(0);
  });
});

describe("permissions of nodes where a contract is asked", () => {
  const BOOTNODE = node("b", "10.0.0.3");
  const STATIC = node("c", "10.0.0.4");
  const OTHER = node("d", "10.0.0.5");

  function permissions(
    fixed: readonly NodeEndpoint[] = [BOOTNODE, STATIC],
    list: readonly NodeEndpoint[] = [],
  ) {
    const connected: Uint8Array[] = [];
    const asked: string[] = [];
    const result = new NodePermissions({
      contract: {
        permits({ source, destination }) {
          asked.push(`${source.host} to ${destination.host}`);
          return "denied";
        },
      },
      own: () => ONE,
      bootnodes: fixed.includes(BOOTNODE) ? [BOOTNODE] : [],
      fixed: () => fixed,
      isListed: (one) => list.length === 0 || list.includes(one),
      connected: () => connected,
      metrics: undefined,
    });
    return { result, connected, asked };
  }

  it("permit bootnodes and static nodes, and no others, until the node is in sync", () => {
    const { result, asked } = permissions();
    expect(result.judge(STATIC, "outbound", "newcomer")).toBe("permitted");
    expect(result.judge(STATIC, "inbound", "newcomer")).toBe("permitted");
    expect(result.judge(OTHER, "inbound", "newcomer")).toBe("denied");
    expect(asked).toEqual([]);
    result.noteInSync();
    expect(result.judge(STATIC, "outbound", "newcomer")).toBe("denied");
    expect(asked).toEqual(["10.0.0.1 to 10.0.0.4"]);
  });

  it("permit a bootnode later, too, while there is no other peer", () => {
    const { result, connected, asked } = permissions();
    result.noteInSync();
    connected.push(BOOTNODE.nodeId);
    expect(result.judge(BOOTNODE, "inbound", "newcomer")).toBe("permitted");
    connected.push(OTHER.nodeId);
    expect(result.judge(BOOTNODE, "inbound", "newcomer")).toBe("denied");
    expect(asked).toEqual(["10.0.0.3 to 10.0.0.1"]);
  });

  it("ask the contract at once where no node is named", () => {
    const { result, asked } = permissions([]);
    result.judge(OTHER, "inbound", "newcomer");
    expect(asked).toEqual(["10.0.0.5 to 10.0.0.1"]);
  });

  it("do not ask about a node that the operator's list lacks", () => {
    const { result, asked } = permissions([], [STATIC]);
    expect(result.judge(OTHER, "inbound", "newcomer")).toBe("denied");
    expect(asked).toEqual([]);
    result.judge(STATIC, "inbound", "newcomer");
    expect(asked).toHaveLength(1);
  });
});

/** The contract of a genesis state, asked on that state. */
async function onGenesis(alloc: object) {
  const dev = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as object;
  const { chain, spec, world } = await aChain({ genesis: JSON.stringify({ ...dev, alloc }) });
  const run = (job: SimulationJob) => {
    const { header } = chain.head;
    const state = world.head;
    const context = {
      spec,
      header,
      state,
      gasCap: 0n,
      ancestorHash: () => undefined,
      yieldPolicy: NEVER_YIELD,
    };
    const result = runSimulation(job, context);
    if (result instanceof Promise) throw new Error("nothing yields here");
    return result;
  };
  const simulator = { run: async (job: SimulationJob) => run(job), runNow: run };
  const calls = new HeadCalls({ chain, state: world.head, simulator }, "nodes");
  return new NodeContract(
    { address: CONTRACT, version: 1 },
    {
      calls,
      nameOf: async () => undefined,
      clock: createHandClock(0),
      logger: silentLogger,
      metrics: undefined,
    },
  );
}

beforeAll(() => loadInterpreter());

it("a Solidity contract with the interface of version 1 is understood", async () => {
  const contract = await onGenesis({ [toDigits(CONTRACT)]: { balance: "0", code: NodeRules.runtime } });
  expect(contract.permits({ source: ONE, destination: TWO }, "peer")).toBe("permitted");
  expect(await contract.probe()).toMatchObject({ ok: true });
});

describeWithVectors("Besu's own cases of the node contract", () => {
  const ask = async (file: string, source: string, destination: string) => {
    const folder = "NodeSmartContractPermissioningControllerTest";
    // Besu reads JSON with comments and with commas too many.
    const text = readFileSync(vectorPath("besu-core", "permissioning", folder, file), "utf8")
      .replace(/\/\/.*$/gm, "")
      .replace(/,(?=\s*[}\]])/g, "");
    const { alloc } = JSON.parse(text) as { alloc: object };
    const contract = await onGenesis(alloc);
    return contract.permits({ source: endpoint(source), destination: endpoint(destination) }, "peer");
  };
  const ID =
    "6f8a80d14311c39f35f516fa664deaaaa13e85b2f7493f37f6144d86991ec012937307647bd3b9a82abe2974e1407241d54947bbb39763a4cac9f77166ad92a0";
  const four = (port: number) => `enode://${ID}@192.168.0.1:${port}`;
  const six = (end: string, port: number) => `enode://1234${"0".repeat(120)}${end}@[1:2:3:4:5:6:7:8]:${port}`;

  it.each([
    ["both listed", four(30303), four(30304), "permitted"],
    ["another destination", four(30303), four(30305), "denied"],
    ["another source", four(30302), four(30304), "denied"],
    ["both listed, by IPv6", six("ab61", 30303), six("ab62", 30304), "permitted"],
    ["another source, by IPv6", six("ab63", 30303), six("ab62", 30304), "denied"],
    ["another destination, by IPv6", six("ab61", 30303), six("ab63", 30304), "denied"],
  ])("%s", async (_, source, destination, permission) => {
    expect(await ask("preseededSmartPermissioning.json", source, destination)).toBe(permission);
  });

  it("a missing or corrupt contract decides nothing", async () => {
    for (const file of ["noSmartPermissioning.json", "corruptSmartPermissioning.json"])
      expect(await ask(file, four(30303), four(30304))).toBe("unknown");
  });
});
