import { describe, expect, it } from "vitest";
import { signNodeRecord } from "../../../src/network/discovery/nodeRecord.ts";
import { encodePacket, MAX_PACKET_BYTES, type Packet } from "../../../src/network/discovery/packets.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { IS_THOROUGH, itIfThorough } from "../../thorough.ts";
import {
  createDatagramNetwork,
  type DatagramNetwork,
  FORK_ID,
  type Outsider,
  type TestNode,
} from "./datagramNetwork.ts";

/** For which others call in other names. */
const SECONDS = IS_THOROUGH ? 30 : 8;
/** Each asks all others, so that twice as many take four times as long. */
const COUNT = IS_THOROUGH ? 10 : 4;

describe("nodes that know one bootnode", () => {
  it("find each other, go on without it, and find each other again from what they remember", async () => {
    const network = createDatagramNetwork(1);
    const bootnode = network.addNode();
    const nodes = Array.from({ length: COUNT }, () => network.addNode({ bootnodes: [bootnode.contact] }));
    await network.run(3 * 60_000);
    expect(nodes.map(({ discovery }) => discovery.nodes.length)).toEqual(nodes.map(() => COUNT));
    expect(nodes.map(({ dialled }) => dialled.size)).toEqual(nodes.map(() => COUNT));

    bootnode.stop();
    await network.run(15 * 60_000);
    expect(nodes.map(({ discovery }) => discovery.nodes.length)).toEqual(nodes.map(() => COUNT - 1));

    for (const { stop } of nodes) stop();
    const again = nodes.map((identity) =>
      network.addNode({ identity, bootnodes: identity.discovery.nodes.slice(0, 3) }),
    );
    await network.run(3 * 60_000);
    expect(again.map(({ discovery }) => discovery.nodes.length)).toEqual(again.map(() => COUNT - 1));
  });

  it("do not dial nodes of another chain, but name them", async () => {
    const network = createDatagramNetwork(2);
    const other = network.addNode({ parts: { forkId: () => ({ checksum: 1, next: 0n }) } });
    const node = network.addNode({ bootnodes: [other.contact] });
    const third = network.addNode({ bootnodes: [node.contact], parts: { isCompatible: () => true } });
    await network.run(60_000);
    expect(node.dialled).toEqual(new Set([toHex(third.contact.nodeId)]));
    expect(third.dialled.has(toHex(other.contact.nodeId))).toBe(true);
  });

  it("neither ping nor dial what the operator's lists do not permit", async () => {
    const network = createDatagramNetwork(3);
    const banned = network.addNode();
    const isPermitted = ({ ip }: { readonly ip: string }): boolean => ip !== banned.contact.ip;
    const node = network.addNode({ bootnodes: [banned.contact], parts: { isPermitted } });
    await network.run(60_000);
    expect(network.sentTo(banned.contact.ip).datagrams).toBe(0);
    expect(node.discovery.nodes).toEqual([]);
  });

  it("do not answer them either", async () => {
    const network = createDatagramNetwork(3);
    const banned = network.addOutsider();
    const isPermitted = ({ ip, tcpPort }: { readonly ip: string; readonly tcpPort: number }): boolean =>
      ip !== banned.contact.ip || tcpPort !== banned.contact.tcpPort;
    const node = network.addNode({ parts: { isPermitted } });
    say(network, banned, node, ping(network, banned, node));
    await network.run(1000);
    expect(banned.received).toEqual([]);
    expect(node.dropped).toEqual(["notPermitted"]);
    // At another port, which is part of the lists, it is answered.
    const moved = { ...banned.contact, tcpPort: 1 };
    say(network, banned, node, { ...ping(network, banned, node), from: moved });
    await network.run(1000);
    expect(banned.received).not.toEqual([]);
  });

  it("are searched for now and then only, once no more connections are wanted", async () => {
    const network = createDatagramNetwork(4);
    const bootnode = network.addNode({ parts: { wantsPeers: () => false } });
    const searching = network.addNode({ bootnodes: [bootnode.contact] });
    const content = network.addNode({ bootnodes: [bootnode.contact], parts: { wantsPeers: () => false } });
    await network.run(20 * 60_000);
    expect(searching.discovery.nodes).toHaveLength(2);
    expect(content.discovery.nodes).toHaveLength(2);
    const findNodes = (node: TestNode): number => node.sent.filter((kind) => kind === "findNode").length;
    // Four look-ups ask the two nodes there are.
    expect(findNodes(content)).toBeLessThanOrEqual(4 * 2);
    expect(findNodes(searching)).toBeGreaterThan(4 * findNodes(content));
  });
});

describe("an outsider", () => {
  it("is answered a ping, with its own address, and pinged", async () => {
    const { network, node, outsider } = setUp();
    const hash = say(network, outsider, node, ping(network, outsider, node));
    await network.run(100);
    expect(outsider.received.map(({ packet }) => packet)).toMatchObject([
      { kind: "pong", pingHash: hash, to: { ip: outsider.contact.ip, udpPort: 30303, tcpPort: 30304 } },
      { kind: "ping" },
    ]);
  });

  it("is answered a ping that says a wrong address of either", async () => {
    const { network, node, outsider } = setUp();
    const wrong = { ip: "192.0.2.1", udpPort: 1, tcpPort: 2 };
    const hash = say(network, outsider, node, { ...ping(network, outsider, node), from: wrong, to: wrong });
    await network.run(100);
    expect(outsider.received[0]?.packet).toMatchObject({ pingHash: hash, to: { ip: outsider.contact.ip } });
  });

  it.each(["ping", "findNode", "recordRequest"] as const)(
    "is not answered a %s that has expired",
    async (kind) => {
      const { network, node, outsider } = setUp();
      await bond(network, outsider, node);
      const expiration = BigInt(Math.floor(network.clock.nowMs() / 1000)) - 1n;
      say(network, outsider, node, { ...requestOf(kind, network, outsider, node), expiration });
      const longPast = 2n ** 64n - expiration;
      say(network, outsider, node, { ...requestOf(kind, network, outsider, node), expiration: longPast });
      await network.run(1000);
      expect(outsider.received).toEqual([]);
      expect(node.dropped).toEqual(["expired", "expired"]);
    },
  );

  it.each(["findNode", "recordRequest"] as const)(
    "is answered a %s once it has proved its address",
    async (kind) => {
      const { network, node, outsider } = setUp();
      say(network, outsider, node, requestOf(kind, network, outsider, node));
      await network.run(11_000);
      // It is asked to prove it, and gets nothing else.
      expect(outsider.received.splice(0).map(({ packet }) => packet.kind)).toEqual(["ping"]);
      expect(node.dropped).toEqual(["unproven"]);
      await bond(network, outsider, node);
      const hash = say(network, outsider, node, requestOf(kind, network, outsider, node));
      await network.run(1000);
      expect(outsider.received.map(({ packet }) => packet)).toMatchObject([
        kind === "findNode"
          ? { kind: "neighbors" }
          : {
              kind: "recordResponse",
              requestHash: hash,
              record: { nodeId: node.contact.nodeId, forkId: FORK_ID },
            },
      ]);
    },
  );

  it("with a pong of another ping has proved nothing", async () => {
    const { network, node, outsider } = setUp();
    say(network, outsider, node, ping(network, outsider, node));
    await network.run(100);
    say(network, outsider, node, pong(network, node, new Uint8Array(32)));
    say(network, outsider, node, requestOf("findNode", network, outsider, node));
    await network.run(100);
    expect(outsider.received.map(({ packet: { kind } }) => kind)).toEqual(["pong", "ping"]);
  });

  it("whose pong comes late has proved its address", async () => {
    const { network, node, outsider } = setUp();
    say(network, outsider, node, ping(network, outsider, node));
    await network.run(30_000);
    const [, pinged] = outsider.received.splice(0);
    say(network, outsider, node, pong(network, node, pinged?.hash ?? new Uint8Array(32)));
    say(network, outsider, node, requestOf("findNode", network, outsider, node));
    await network.run(2000);
    expect(outsider.received.map(({ packet: { kind } }) => kind)).toContain("neighbors");
    expect(node.dropped).toEqual([]);
    expect(node.dialled).toEqual(new Set([toHex(outsider.contact.nodeId)]));
  });

  it("whose pong comes when its ping has expired, or from another address, has proved nothing", async () => {
    const { network, node, outsider } = setUp();
    say(network, outsider, node, ping(network, outsider, node));
    await network.run(2000);
    const [, pinged] = outsider.received.splice(0);
    const pingHash = pinged?.hash ?? new Uint8Array(32);
    const { bytes } = encodePacket(pong(network, node, pingHash), outsider.key);
    network.send(bytes, { address: "203.0.113.9", port: 30303 }, node.contact);
    await network.run(60_000);
    say(network, outsider, node, pong(network, node, pingHash));
    await network.run(100);
    expect(node.dropped).toEqual(["unrequested", "unrequested"]);
    expect(node.dialled).toEqual(new Set());
  });

  it.each(["findNode", "recordRequest"] as const)(
    "whose pong was lost is pinged again when it asks by a %s, and answered once it has proved its address",
    async (kind) => {
      const { network, node, outsider } = setUp();
      // It has pinged, its pong was lost, and it does not ping again: so does Besu.
      say(network, outsider, node, ping(network, outsider, node));
      await network.run(11_000);
      outsider.received.splice(0);
      say(network, outsider, node, requestOf(kind, network, outsider, node));
      await network.run(100);
      const [again, ...others] = outsider.received.splice(0);
      expect([again?.packet.kind, others]).toEqual(["ping", []]);
      say(network, outsider, node, pong(network, node, again?.hash ?? new Uint8Array(32)));
      await network.run(2000);
      const answer = kind === "findNode" ? "neighbors" : "recordResponse";
      expect(outsider.received.map(({ packet }) => packet.kind)).toContain(answer);
      expect(node.dialled).toEqual(new Set([toHex(outsider.contact.nodeId)]));
    },
  );

  it("who asks before its pong has come is answered when it comes, once", async () => {
    const { network, node, outsider } = setUp();
    say(network, outsider, node, ping(network, outsider, node));
    await network.run(100);
    const pinged = outsider.received.find(({ packet }) => packet.kind === "ping");
    for (let count = 0; count < 5; count++)
      say(network, outsider, node, requestOf("findNode", network, outsider, node));
    await network.run(100);
    outsider.received.splice(0);
    say(network, outsider, node, pong(network, node, pinged?.hash ?? new Uint8Array(32)));
    await network.run(100);
    const answers = outsider.received.filter(({ packet }) => packet.kind === "neighbors");
    expect(answers).toHaveLength(1);
  });

  it("that proved one address gets nothing sent to another", async () => {
    const { network, node, outsider } = setUp();
    await bond(network, outsider, node);
    const victim = network.addOutsider("203.0.113.9");
    const { bytes } = encodePacket(requestOf("findNode", network, outsider, node), outsider.key);
    network.send(bytes, { address: victim.contact.ip, port: 30303 }, node.contact);
    await network.run(1000);
    expect(victim.received.map(({ packet }) => packet.kind)).toEqual([]);
    expect(node.dropped).toEqual(["unproven"]);
  });

  it("adds nothing by neighbors that nobody asked for", async () => {
    const { network, node, outsider } = setUp();
    await bond(network, outsider, node);
    const named = network.addOutsider();
    say(network, outsider, node, { kind: "neighbors", nodes: [named.contact], expiration: later(network) });
    await network.run(1000);
    expect(named.received).toEqual([]);
    expect(node.dropped).toEqual(["unrequested"]);
  });

  it("without a port is not answered, which nothing can be sent to", async () => {
    const { network, node, outsider } = setUp();
    const { bytes } = encodePacket(ping(network, outsider, node), outsider.key);
    network.send(bytes, { address: outsider.contact.ip, port: 0 }, node.contact);
    await network.run(1000);
    expect(node.dropped).toEqual(["noPort"]);
    expect(node.sent).toEqual([]);
  });

  it("who names a record of another's key is not believed", async () => {
    const network = createDatagramNetwork(9);
    const node = network.addNode();
    const outsider = network.addOutsider();
    await bond(network, outsider, node);
    const request = outsider.all.find(({ packet }) => packet.kind === "recordRequest");
    const record = signNodeRecord(
      { sequence: 1n, endpoint: outsider.contact, forkId: { checksum: 1, next: 0n } },
      new Uint8Array(32).fill(99),
    );
    say(network, outsider, node, {
      kind: "recordResponse",
      requestHash: request?.hash ?? new Uint8Array(32),
      record,
    });
    await network.run(2000);
    expect(node.dialled).toEqual(new Set([toHex(outsider.contact.nodeId)]));
  });
});

describe("a known node", () => {
  it("is not believed to be where it was not asked, while it answers elsewhere", async () => {
    const { network, node, outsider } = setUp();
    await bond(network, outsider, node);
    await network.run(15_000);
    outsider.received.splice(0);
    while (outsider.received.length === 0) await network.run(20);
    // Someone repeats a ping of the node in a victim's name, while the node is being verified at its own address.
    const { bytes } = encodePacket(ping(network, outsider, node), outsider.key);
    const [verified] = outsider.received;
    network.send(bytes, { address: "203.0.113.9", port: 30303 }, node.contact);
    await network.run(20);
    say(network, outsider, node, pong(network, node, verified?.hash ?? new Uint8Array(32)));
    await network.run(2000);
    expect(node.discovery.nodes.map(({ ip }) => ip)).toEqual([outsider.contact.ip]);
  });

  it("is dialled at the TCP port that it says, not at the one that another says", async () => {
    const network = createDatagramNetwork(11);
    const friend = network.addNode({ parts: { wantsPeers: () => false } });
    const named = { ...friend.contact, tcpPort: 22 };
    const node = network.addNode({ bootnodes: [named] });
    await network.run(60_000);
    expect(node.discovery.nodes).toEqual([friend.contact]);
    expect(node.dialledAt.get(toHex(friend.contact.nodeId))).toBe(friend.contact.tcpPort);
  });

  it("is found at an address that the operator wrote in another way", async () => {
    const network = createDatagramNetwork(12);
    const friend = network.addNode({ ip: "fd00::1" });
    const node = network.addNode({ ip: "fd00::2", bootnodes: [{ ...friend.contact, ip: "FD00:0:0:0::1" }] });
    await network.run(60_000);
    expect(node.discovery.nodes).toHaveLength(1);
  });

  it("is dialled once its record says that it is on our chain", async () => {
    const network = createDatagramNetwork(13);
    let forkId = { checksum: 1, next: 0n };
    const friend = network.addNode({ parts: { forkId: () => forkId } });
    const node = network.addNode({ bootnodes: [friend.contact] });
    await network.run(60_000);
    expect(node.dialled.size).toBe(0);
    forkId = FORK_ID;
    await network.run(60_000);
    expect(node.dialled.size).toBe(1);
  });
});

describe("a node that is stopped in the middle of a search", () => {
  it("sends nothing more, and leaves no timer behind", async () => {
    const network = createDatagramNetwork(10);
    const outsiders = Array.from({ length: 12 }, () => network.addOutsider());
    const node = network.addNode({ bootnodes: outsiders.map(({ contact }) => contact) });
    await network.run(100);
    for (const outsider of outsiders) {
      const [request] = outsider.received;
      if (request !== undefined) say(network, outsider, node, pong(network, node, request.hash));
    }
    while (!node.sent.includes("findNode")) await network.run(20);
    await network.run(20);
    const asked = outsiders.filter(({ received }) =>
      received.some(({ packet }) => packet.kind === "findNode"),
    );
    expect(asked.length).toBeGreaterThan(0);
    const nodes = [network.addOutsider().contact];
    for (const outsider of asked)
      say(network, outsider, node, { kind: "neighbors", nodes, expiration: later(network) });
    await network.run(40);
    const before = node.sent.length;
    node.stop();
    await network.run(60_000);
    expect(node.sent).toHaveLength(before);
    expect(network.clock.nextAlarmMs).toBeUndefined();
  });
});

describe("under abuse", () => {
  it("a forged address receives no more than twice the bytes that were sent in its name", async () => {
    const { network, node, outsider } = setUp();
    const victim = "203.0.113.9";
    let spent = 0;
    for (let second = 0; second < 60; second++) {
      const { bytes } = encodePacket(ping(network, outsider, node), outsider.key);
      network.send(bytes, { address: victim, port: 30303 }, node.contact);
      spent += bytes.length;
      await network.run(1000);
    }
    expect(network.sentTo(victim).bytes).toBeGreaterThan(0);
    expect(network.sentTo(victim).bytes).toBeLessThanOrEqual(2 * spent);
  });

  it.each(["findNode", "recordRequest"] as const)(
    "so does one in whose name ever new ids, or one, ask by a %s, and few",
    async (kind) => {
      const { network, node, outsider } = setUp();
      const victim = "203.0.113.9";
      let spent = 0;
      for (let at = 0; at < 1000; at++) {
        const key = new Uint8Array(32).fill(5);
        if (at % 2 === 0) new DataView(key.buffer).setUint32(0, at);
        const { bytes } = encodePacket(requestOf(kind, network, outsider, node), key);
        network.send(bytes, { address: victim, port: 30303 }, node.contact);
        spent += bytes.length;
        if (at % 100 === 99) await network.run(1000);
      }
      expect(network.sentTo(victim).datagrams).toBeGreaterThan(0);
      expect(network.sentTo(victim).bytes).toBeLessThanOrEqual(2 * spent);
      // 8 pings a second, and the first burst.
      expect(network.sentTo(victim).datagrams).toBeLessThanOrEqual(10 * 8 + 8);
    },
  );

  it("so does one with ever new ids and the shortest pings, and few", async () => {
    const { network, node, outsider } = setUp();
    const victim = "203.0.113.9";
    let spent = 0;
    for (let at = 0; at < 3000; at++) {
      const key = new Uint8Array(32).fill(5);
      new DataView(key.buffer).setUint32(0, at);
      const nowhere = { ip: "0.0.0.0", udpPort: 0, tcpPort: 0 };
      const packet = { ...ping(network, outsider, node), to: nowhere, from: undefined };
      const { bytes } = encodePacket({ ...packet, recordSequence: undefined }, key);
      network.send(bytes, { address: victim, port: 30303 }, node.contact);
      spent += bytes.length;
      if (at % 100 === 99) await network.run(1000);
    }
    expect(network.sentTo(victim).bytes).toBeLessThanOrEqual(2 * spent);
    // 20 pongs and 8 pings a second, and the first burst.
    expect(network.sentTo(victim).datagrams).toBeLessThanOrEqual(30 * 28 + 100);
  });

  itIfThorough("calls in the name of others do not keep out what look-ups find", async () => {
    const network = createDatagramNetwork(14);
    const { key } = network.addOutsider();
    const bootnode = network.addNode();
    for (let at = 0; at < 8; at++) network.addNode({ bootnodes: [bootnode.contact] });
    await network.run(60_000);
    const node = network.addNode({ bootnodes: [bootnode.contact] });
    for (let at = 0; at < SECONDS * 200 + 300; at++) {
      const from = { ip: `198.51.${at >> 8}.${at & 255}`, udpPort: 1, tcpPort: 1 };
      const { bytes } = encodePacket(
        { kind: "ping", from, to: node.contact, expiration: later(network), recordSequence: 1n },
        key.map((byte, index) => (index < 2 ? (at >> (8 * index)) & 255 : byte)),
      );
      network.send(bytes, { address: from.ip, port: 1 }, node.contact);
      if (at > 300 && at % 4 === 0) await network.run(20);
    }
    expect(node.discovery.nodes).toHaveLength(9);
    expect(node.refused.get("crowded")).toBeGreaterThan(100);
  });

  it("neighbors that come bit by bit do not hold a search for ever", async () => {
    const network = createDatagramNetwork(15);
    const outsider = network.addOutsider();
    const node = network.addNode({ bootnodes: [outsider.contact] });
    for (let at = 0; at < 5 * 60 * 10; at++) {
      await network.run(100);
      for (const { packet, hash } of outsider.received.splice(0))
        if (packet.kind === "ping") say(network, outsider, node, pong(network, node, hash));
      say(network, outsider, node, { kind: "neighbors", nodes: [], expiration: later(network) });
    }
    // Four look-ups in each search, after 30 s, and later after one, two and four minutes.
    expect(node.sent.filter((kind) => kind === "findNode").length).toBeGreaterThanOrEqual(12);
  });

  it("of a flood, few datagrams are read, and those of known nodes still are", async () => {
    const network = createDatagramNetwork(5);
    const friend = network.addNode();
    const node = network.addNode({ bootnodes: [friend.contact] });
    await network.run(30_000);
    const datagrams = 20_000;
    for (let at = 0; at < datagrams; at++)
      network.send(new Uint8Array(200), { address: `198.51.${at % 100}.${at % 250}`, port: 1 }, node.contact);
    await network.run(1000);
    const read = node.dropped.filter((reason) => reason !== "tooMany").length;
    expect(read).toBeLessThan(2000);
    expect(node.dropped.length).toBe(datagrams);
    const before = friend.dropped.length;
    await network.run(60_000);
    expect(node.discovery.nodes).toHaveLength(1);
    expect(friend.dropped.length).toBe(before);
  });

  it("thousands of invented neighbors cost a bounded number of pings", async () => {
    const network = createDatagramNetwork(6);
    const node = network.addNode();
    const outsider = network.addOutsider("8.8.8.8");
    await bond(network, outsider, node);
    let invented = 0;
    for (let round = 0; round < 60 * 60; round++) {
      await network.run(500);
      for (const { packet, hash } of outsider.received.splice(0)) {
        if (packet.kind === "ping") say(network, outsider, node, pong(network, node, hash));
        if (packet.kind !== "findNode") continue;
        for (let again = 0; again < 40; again++) {
          const nodes = Array.from({ length: 12 }, () => {
            invented += 1;
            const nodeId = new Uint8Array(64).fill(3);
            new DataView(nodeId.buffer).setUint32(0, invented);
            return {
              nodeId,
              ip: `9.${invented >> 16}.${(invented >> 8) & 255}.${invented & 255}`,
              udpPort: 1,
              tcpPort: 1,
            };
          });
          say(network, outsider, node, { kind: "neighbors", nodes, expiration: later(network) });
        }
      }
    }
    expect(invented).toBeGreaterThan(10_000);
    const count = (of: Packet["kind"]): number => node.sent.filter((kind) => kind === of).length;
    // Sixteen nodes of each answer, and one that is verified every ten seconds.
    expect(count("ping")).toBeLessThanOrEqual(16 * count("findNode") + 3 * 60 + 10);
    // Two packets of twelve answer a question, of which eight nodes are too many; the others are not expected any more.
    expect(node.refused.get("surplus")).toBe(8 * count("findNode"));
    expect(node.dropped.filter((reason) => reason === "unrequested").length).toBeGreaterThan(1_000);
    expect(node.discovery.nodes).toHaveLength(1);
  });

  it("named nodes at addresses that the sender cannot know are not pinged", async () => {
    const network = createDatagramNetwork(17);
    const node = network.addNode();
    const outsider = network.addOutsider("8.8.8.8");
    await bond(network, outsider, node);
    const nodes = ["127.0.0.1", "10.9.9.9", "0.0.0.0"].map((ip, at) => ({
      nodeId: new Uint8Array(64).fill(at + 5),
      ip,
      udpPort: 1,
      tcpPort: 1,
    }));
    let asked = 0;
    for (let second = 0; second < 60; second++) {
      await network.run(1000);
      for (const { packet, hash } of outsider.received.splice(0)) {
        if (packet.kind === "ping") say(network, outsider, node, pong(network, node, hash));
        if (packet.kind !== "findNode") continue;
        asked += 1;
        say(network, outsider, node, { kind: "neighbors", nodes, expiration: later(network) });
      }
    }
    expect(asked).toBeGreaterThan(0);
    expect(node.refused.get("address")).toBe(3 * asked);
    for (const { ip } of nodes) expect(network.sentTo(ip).datagrams).toBe(0);
  });

  itIfThorough("neighbors fit into one datagram", async () => {
    const network = createDatagramNetwork(8);
    const bootnode = network.addNode({ ip: "fd00::1" });
    for (let at = 2; at < 16; at++) network.addNode({ ip: `fd00::${at}`, bootnodes: [bootnode.contact] });
    const outsider = network.addOutsider("fd00::99");
    await network.run(30_000);
    await bond(network, outsider, bootnode);
    say(network, outsider, bootnode, requestOf("findNode", network, outsider, bootnode));
    await network.run(1000);
    const [answer] = outsider.received;
    expect(answer?.packet.kind === "neighbors" && answer.packet.nodes).toHaveLength(12);
    expect(answer?.bytes.length).toBeLessThanOrEqual(MAX_PACKET_BYTES);
  });
});

function setUp(): {
  readonly network: DatagramNetwork;
  readonly node: TestNode;
  readonly outsider: Outsider;
} {
  const network = createDatagramNetwork(100);
  const node = network.addNode({ parts: { wantsPeers: () => false } });
  return { network, node, outsider: network.addOutsider() };
}

/** Sends a packet to the node; returns its hash. */
function say(
  network: DatagramNetwork,
  { key, contact }: Outsider,
  { contact: to }: TestNode,
  packet: Packet,
): Uint8Array {
  const { bytes, hash } = encodePacket(packet, key);
  network.send(bytes, { address: contact.ip, port: contact.udpPort }, to);
  return hash;
}

/** Proves the outsider's address to the node. */
async function bond(network: DatagramNetwork, outsider: Outsider, node: TestNode): Promise<void> {
  say(network, outsider, node, ping(network, outsider, node));
  await network.run(100);
  const theirs = outsider.received.find(({ packet }) => packet.kind === "ping");
  if (theirs === undefined) throw new Error("the node did not ping");
  say(network, outsider, node, pong(network, node, theirs.hash));
  await network.run(100);
  outsider.received.splice(0);
  node.dropped.splice(0);
}

function ping(
  network: DatagramNetwork,
  { contact }: Outsider,
  { contact: to }: TestNode,
): Extract<Packet, { kind: "ping" }> {
  return { kind: "ping", from: contact, to, expiration: later(network), recordSequence: 1n };
}

function pong(network: DatagramNetwork, { contact: to }: TestNode, pingHash: Uint8Array): Packet {
  return { kind: "pong", to, pingHash, expiration: later(network), recordSequence: 1n };
}

function requestOf(
  kind: "ping" | "findNode" | "recordRequest",
  network: DatagramNetwork,
  outsider: Outsider,
  node: TestNode,
): Exclude<Packet, { kind: "recordResponse" }> {
  const expiration = later(network);
  if (kind === "ping") return ping(network, outsider, node);
  return kind === "findNode"
    ? { kind, target: new Uint8Array(64).fill(5), expiration }
    : { kind, expiration };
}

function later({ clock }: DatagramNetwork): bigint {
  return BigInt(Math.floor(clock.nowMs() / 1000)) + 20n;
}
