import { describe, expect, it } from "vitest";
import type { Opener } from "../../../src/network/dialer.ts";
import { encodePacket, type NodeContact, type Packet } from "../../../src/network/discovery/packets.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import {
  createDatagramNetwork,
  type DatagramNetwork,
  type Identity,
  type TestNode,
} from "./datagramNetwork.ts";

/** A node whose rules the test changes. */
interface RuledNode extends TestNode {
  /** Permits all nodes from now on. */
  permitAll(): void;
}

/** Adds a node that permits nobody at first, except what `isFixed` says. */
function addRuled(
  network: DatagramNetwork,
  bootnodes: readonly Identity[],
  isFixed: (ip: string, from: Opener) => boolean = () => false,
): RuledNode {
  let permitsAll = false;
  const node = network.addNode({
    bootnodes: bootnodes.map(({ contact }) => contact),
    parts: { isPermitted: ({ ip }, from) => permitsAll || isFixed(ip, from) },
  });
  return {
    ...node,
    permitAll() {
      permitsAll = true;
      node.discovery.review();
    },
  };
}

const isDialledBy = (called: Identity, caller: TestNode): boolean =>
  caller.dialled.has(toHex(called.contact.nodeId));
const searchesOf = ({ sent }: TestNode): number => sent.filter((kind) => kind === "findNode").length;

describe("nodes whose rules of connections change", () => {
  it("find at once whom they did not ask, and whom they did not answer", async () => {
    const network = createDatagramNetwork(31);
    const other = network.addNode();
    const node = addRuled(network, [other]);
    const caller = network.addNode({ bootnodes: [node.contact] });
    await network.run(65_000);
    expect([node.dialled.size, network.sentTo(other.contact.ip).datagrams]).toEqual([0, 0]);
    node.permitAll();
    await network.run(3_000);
    expect([isDialledBy(other, node), isDialledBy(caller, node)]).toEqual([true, true]);
  });

  it("ping again at once where neither answered the other", async () => {
    const network = createDatagramNetwork(37);
    let areHeard = false;
    const isPermitted = (_: NodeContact, from: Opener): boolean => areHeard || from === "outbound";
    const nodes = [1, 2].map(() => network.addNode({ parts: { isPermitted } }));
    const [one, other] = nodes;
    if (one === undefined || other === undefined) throw new Error("there are two");
    one.discovery.offer(other.contact);
    other.discovery.offer(one.contact);
    await network.run(2_000);
    areHeard = true;
    for (const { discovery } of nodes) discovery.review();
    await network.run(2_000);
    expect([isDialledBy(one, other), isDialledBy(other, one)]).toEqual([true, true]);
  });

  it("answer late what they did not answer, also where both had to wait for a contract", async () => {
    const network = createDatagramNetwork(38);
    // The contract answers the first question about each direction after 300 ms, as a busy node has it.
    const addAsking = (): TestNode => {
      const answered = new Set<string>();
      const isPermitted = ({ ip }: NodeContact, from: Opener): boolean => {
        const question = `${ip} ${from}`;
        network.clock.at(network.clock.nowMs() + 300, () => {
          if (answered.has(question)) return;
          answered.add(question);
          node.discovery.review();
        });
        return answered.has(question);
      };
      const node = network.addNode({ parts: { isPermitted } });
      return node;
    };
    for (const delayMs of [0, 100, 280, 400, 700]) {
      const [one, other] = [addAsking(), addAsking()];
      one.discovery.offer(other.contact);
      network.clock.at(network.clock.nowMs() + delayMs, () => other.discovery.offer(one.contact));
      await network.run(4_000);
      expect([delayMs, isDialledBy(one, other) || isDialledBy(other, one)]).toEqual([delayMs, true]);
    }
  });

  it("dial a node that was bonded with and then denied", async () => {
    const network = createDatagramNetwork(32);
    const other = network.addNode();
    let isDenied = false;
    const node = network.addNode({
      bootnodes: [other.contact],
      parts: { isPermitted: () => !isDenied, onNode: ({ nodeId }) => void dialled.push(toHex(nodeId)) },
    });
    const dialled: string[] = [];
    await network.run(60);
    expect(node.sent).toContain("recordRequest");
    isDenied = true;
    await network.run(2_000);
    expect(dialled).toEqual([]);
    isDenied = false;
    node.discovery.review();
    await network.run(2_000);
    expect(new Set(dialled)).toEqual(new Set([toHex(other.contact.nodeId)]));
  });

  // A bootnode asks only other bootnodes before its own first sync, and serves nobody whom it has not asked.
  it.each([
    ["the bootnode first", 1, [0, 400, 800, 1_200]],
    ["the bootnode last", 1, [2_000, 0, 400, 800]],
    ["all at the same moment", 1, [500, 500, 500, 500]],
    ["in between", 1, [600, 300, 5_000, 900]],
    ["of two bootnodes one much later", 2, [300, 9_000, 400, 500, 600]],
  ] as const)(
    "at a start with shared bootnodes find each other soon: %s",
    async (_, bootnodeCount, times) => {
      for (let seed = 40; seed < 43; seed++) {
        const network = createDatagramNetwork(seed);
        const bootnodes: RuledNode[] = [];
        const isBootnode = (ip: string): boolean => bootnodes.some(({ contact }) => contact.ip === ip);
        const isCallerOrBootnode = (ip: string, from: Opener): boolean =>
          from === "inbound" || isBootnode(ip);
        for (let count = 0; count < bootnodeCount; count++)
          bootnodes.push(addRuled(network, bootnodes, isCallerOrBootnode));
        const others = [1, 2, 3].map(() => addRuled(network, bootnodes, isBootnode));
        const nodes = [...bootnodes, ...others];
        for (const [at, node] of nodes.entries())
          network.clock.at(network.clock.nowMs() + (times[at] ?? 0), () => node.permitAll());
        await network.run(Math.max(...times) + 8_000);
        for (const one of others)
          for (const other of others.filter((each) => each !== one))
            expect([seed, isDialledBy(other, one) || isDialledBy(one, other)]).toEqual([seed, true]);
      }
    },
  );

  it("search once for many changes, and not for one that permits nobody", async () => {
    const network = createDatagramNetwork(33);
    const others = Array.from({ length: 3 }, () => network.addNode());
    const permitted = new Set<string>();
    const node = network.addNode({
      bootnodes: others.map(({ contact }) => contact),
      parts: { isPermitted: ({ ip }) => permitted.has(ip) },
    });
    await network.run(12_000);
    for (let review = 0; review < 20; review++) {
      node.discovery.review();
      await network.run(100);
    }
    expect(searchesOf(node)).toBe(0);
    for (const { contact } of others) {
      permitted.add(contact.ip);
      node.discovery.review();
    }
    await network.run(5_000);
    // Four look-ups ask the three nodes there are.
    expect(searchesOf(node)).toBe(4 * 3);
  });

  it("remember a bounded number of denied nodes, of which few are judged in a review", async () => {
    const network = createDatagramNetwork(34);
    let judged = 0;
    const node = network.addNode({
      bootnodes: Array.from({ length: 200 }, () => network.addOutsider().contact),
      parts: {
        isPermitted() {
          judged += 1;
          return false;
        },
      },
    });
    await network.run(1_000);
    judged = 0;
    node.discovery.review();
    expect(judged).toBe(8);
    node.stop();
    node.discovery.review();
    expect(judged).toBe(8);
  });
});

it("a node whose search nobody answered searches again when it is pinged, with a pause in between", async () => {
  const network = createDatagramNetwork(35);
  const bootnode = network.addNode();
  bootnode.stop();
  const [one, other] = [1, 2].map(() => network.addNode({ bootnodes: [bootnode.contact] }));
  if (one === undefined || other === undefined) throw new Error("there are two");
  await network.run(5_000);
  network.addNode({ identity: bootnode });
  await network.run(8_000);
  expect(isDialledBy(other, one) || isDialledBy(one, other)).toBe(true);
});

it("a node that is pinged by an outsider who answers no question searches every three seconds at most", async () => {
  const network = createDatagramNetwork(36);
  const node = network.addNode();
  const outsider = network.addOutsider();
  const expiration = (): bigint => BigInt(Math.floor(network.clock.nowMs() / 1000) + 60);
  const say = (packet: Packet): void => {
    const { ip, udpPort } = outsider.contact;
    const { bytes } = encodePacket(packet, outsider.key);
    network.send(bytes, { address: ip, port: udpPort }, node.contact);
  };
  for (let round = 0; round < 300; round++) {
    await network.run(100);
    const { contact } = node;
    say({
      kind: "ping",
      from: outsider.contact,
      to: contact,
      expiration: expiration(),
      recordSequence: undefined,
    });
    for (const { packet, hash } of outsider.received.splice(0))
      if (packet.kind === "ping")
        say({
          kind: "pong",
          to: contact,
          pingHash: hash,
          expiration: expiration(),
          recordSequence: undefined,
        });
  }
  expect(searchesOf(node)).toBeGreaterThan(0);
  expect(searchesOf(node)).toBeLessThanOrEqual(4 * 10);
});
