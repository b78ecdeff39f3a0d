import { describe, expect, it } from "vitest";
import { type Hello, ownHello } from "../../src/network/rlpx/hello.ts";
import { Wire } from "../../src/network/rlpx/wire.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { type Identity, identity } from "./identities.ts";
import { callNode, closeAfterEach, createToy, startToy, type ToyNode, until } from "./toyNetwork.ts";

closeAfterEach();

const TOY = [{ name: "toy", version: 1 }];

describe("two nodes", () => {
  it("introduce themselves and exchange messages both ways", async () => {
    const [alice, bob] = [await startToy(1), await startToy(2)];
    alice.network.addPeer(bob.address);
    await until(() => alice.toy.sessions.size === 1 && bob.toy.sessions.size === 1);
    const [toBob, toAlice] = [alice.toy.sessionWith(bob.identity), bob.toy.sessionWith(alice.identity)];
    expect(toBob).toMatchObject({ isInbound: false, version: 1, hello: { clientId: "toy/2" } });
    expect(toAlice).toMatchObject({ isInbound: true, hello: { clientId: "toy/1" } });
    expect(toBob?.hello.listenPort).toBe(bob.address.tcpPort);
    const large = new Uint8Array(3_000_000).map((_, index) => index >> 5);
    expect(toBob?.send(0, Uint8Array.of(0xc0))).toBe(true);
    expect(toBob?.send(3, large)).toBe(true);
    expect(toAlice?.send(1, Uint8Array.of(1, 2, 3))).toBe(true);
    await until(() => bob.toy.received.length === 2 && alice.toy.received.length === 1);
    expect(bob.toy.received.map(({ code, payload }) => [code, payload.length])).toEqual([
      [0, 1],
      [3, large.length],
    ]);
    expect(Buffer.compare(bob.toy.received[1]?.payload ?? new Uint8Array(), large)).toBe(0);
    expect(alice.network.peerCount).toBe(1);
    expect(bob.network.peers).toMatchObject([{ isInbound: true, reputation: 100, connections: 1 }]);
  });

  it("disconnect with a reason that both remember when one of them stops", async () => {
    const [alice, bob] = await pair();
    await alice.network.close();
    await until(() => bob.toy.closed.length === 1);
    expect(bob.toy.closed).toEqual([{ nodeId: toDigits(alice.identity.nodeId), reason: "clientQuitting" }]);
    expect(bob.network.disconnects).toMatchObject([{ reason: "clientQuitting", by: "them", count: 1 }]);
    expect(alice.toy.closed).toMatchObject([{ reason: "clientQuitting" }]);
  });

  it("refuse to send invalid messages of a protocol", async () => {
    const [alice, bob] = await pair();
    const session = alice.toy.sessionWith(bob.identity);
    expect(session?.send(4, new Uint8Array(1))).toBe(false);
    expect(session?.send(-1, new Uint8Array(1))).toBe(false);
    expect(session?.send(0, new Uint8Array(0xff_ff_ff))).toBe(false);
    session?.disconnect("requested");
    expect(session?.send(0, new Uint8Array(1))).toBe(false);
  });

  it("that dial each other keep the connection opened by the lower id, and close the other", async () => {
    const clock = createHandClock(1_000_000);
    const [alice, bob] = [await startToy(1, { clock }), await startToy(2, { clock })];
    alice.network.addPeer(bob.address);
    bob.network.addPeer(alice.address);
    clock.advanceBy(0);
    await until(() => alice.toy.sessions.size === 2 && bob.toy.sessions.size === 2);
    expect(alice.network.peers).toMatchObject([{ connections: 2 }]);
    expect(alice.network.peerCount).toBe(1);
    clock.advanceBy(5_000);
    await until(() => alice.toy.sessions.size === 1 && bob.toy.sessions.size === 1);
    const isAliceLower = Buffer.compare(alice.identity.nodeId, bob.identity.nodeId) < 0;
    expect(alice.toy.sessionWith(bob.identity)).toMatchObject({ isInbound: !isAliceLower, isLasting: true });
    expect(bob.toy.sessionWith(alice.identity)).toMatchObject({ isInbound: isAliceLower, isLasting: true });
    expect([...alice.toy.closed, ...bob.toy.closed].map(({ reason }) => reason)).toEqual([
      "alreadyConnected",
      "alreadyConnected",
    ]);
  });

  it("reconnect when one of them has restarted", async () => {
    const clock = createHandClock(1_000_000);
    const bob = await startToy(2, { clock });
    const alice = await startToy(1, { clock, maintained: [bob.address] });
    clock.advanceBy(0);
    await until(() => alice.network.peerCount === 1 && bob.network.peerCount === 1);
    await bob.network.close();
    await until(() => alice.network.peerCount === 0);
    const again = await startToy(2, { clock, port: bob.address.tcpPort });
    clock.advanceBy(1_000);
    await until(() => again.network.peerCount === 1);
    expect(alice.network.disconnects.map(({ reason, by }) => [reason, by])).toEqual([
      ["clientQuitting", "them"],
    ]);
  });
});

describe("four nodes under load", () => {
  it("receive everything that was sent to them, in order", async () => {
    const ROUNDS = 200;
    const nodes: ToyNode[] = [];
    for (const number of [1, 2, 3, 4]) {
      nodes.push(await startToy(number, { maintained: nodes.map(({ address }) => address) }));
    }
    await until(() => nodes.every(({ network }) => network.peerCount === 3));
    for (let round = 0; round < ROUNDS; round++) {
      for (const { toy } of nodes) {
        const payload = new Uint8Array(round % 10 === 0 ? 40_000 : 300).fill(round);
        for (const session of toy.sessions) session.send(round % 4, payload);
      }
      if (round % 20 === 0) await new Promise(setImmediate);
    }
    await until(() => nodes.every(({ toy }) => toy.received.length === 3 * ROUNDS));
    for (const { toy } of nodes) {
      for (const other of nodes) {
        const fromOther = toy.received.filter(({ from }) => from === toDigits(other.identity.nodeId));
        if (other.toy === toy) expect(fromOther).toEqual([]);
        else
          expect(fromOther.map(({ payload }) => payload[0])).toEqual(
            Array.from({ length: ROUNDS }, (_, i) => i),
          );
      }
    }
  });
});

describe("a node refuses a peer", () => {
  it.each([
    ["beyond its peer limit", { limits: { maxPeers: 1, maxInbound: undefined } }, "tooManyPeers"],
    ["beyond its limit of inbound peers", { limits: { maxPeers: 9, maxInbound: 1 } }, "tooManyPeers"],
    ["that is banned", { bannedIds: [identity(3).nodeId] }, "unknown"],
    [
      "that the operator's list does not permit",
      { isPermitted: ({ nodeId }: Identity) => toDigits(nodeId) !== toDigits(identity(3).nodeId) },
      "unknown",
    ],
    ["without a shared protocol", {}, "uselessPeer"],
  ] as const)("%s", async (what, changes, reason) => {
    const host = await startToy(1, changes as object);
    const guest = await startToy(2);
    guest.network.addPeer(host.address);
    await until(() => host.network.peerCount === 1);
    const toy = what.includes("shared") ? createToy("other") : createToy();
    const late = await startToy(3, { toy });
    late.network.addPeer(host.address);
    await until(() => late.network.disconnects.length === 1);
    expect(late.network.disconnects).toMatchObject([{ reason, by: what.includes("shared") ? "us" : "them" }]);
    expect(host.network.peerCount).toBe(1);
    expect(late.toy.sessions.size).toBe(0);
  });

  it("but admits maintained peers beyond the limits", async () => {
    const late = await startToy(3);
    const host = await startToy(1, { limits: { maxPeers: 1, maxInbound: 0 }, maintained: [] });
    const guest = await startToy(2);
    host.network.addPeer(guest.address);
    await until(() => host.network.peerCount === 1);
    host.network.addPeer(late.address);
    await until(() => host.network.peerCount === 2);
  });

  it("for one of higher priority, where priorities are random", async () => {
    const limits = { maxPeers: 2, maxInbound: undefined };
    const host = await startToy(1, { limits, hasRandomPriority: true });
    // The toy's dice draw 128 for each byte of the secret.
    const rankOf = (number: number): Uint8Array => identity(number).nodeId.map((byte) => byte ^ 128);
    const [best = 0, second = 0, third = 0, last = 0] = [2, 3, 4, 5].toSorted((a, b) =>
      Buffer.compare(rankOf(a), rankOf(b)),
    );
    const join = async (number: number): Promise<ToyNode> => {
      const node = await startToy(number);
      node.network.addPeer(host.address);
      return node;
    };
    const early = [await join(third), await join(second)];
    await until(() => host.network.peerCount === 2);
    const refused = await join(last);
    await until(() => refused.network.disconnects.length === 1);
    expect(refused.network.disconnects).toMatchObject([{ reason: "tooManyPeers", by: "them" }]);
    expect(early.map(({ network }) => network.peerCount)).toEqual([1, 1]);

    const late = await join(best);
    await until(() => early[0]?.network.disconnects.length === 1);
    expect(early[0]?.network.disconnects).toMatchObject([{ reason: "tooManyPeers", by: "them" }]);
    expect([host, late, early[1]].map((node) => node?.network.peerCount)).toEqual([2, 1, 1]);
  });

  it("with its own id", async () => {
    const { logger, lines } = loggedLines("WARN");
    const host = await startToy(1, { logger });
    const twin = await startToy(1);
    expect(host.network.addPeer(twin.address)).toBe(false);
    expect(lines).toEqual([]);
    for (const _ of [1, 2])
      expect(await sendHello(host, identity(1), helloOf(identity(1))).disconnected).toBe("self");
    expect(lines).toMatchObject([{ message: expect.stringMatching(/^another node has this node's key: /) }]);
  });

  it("with the key of a peer that is connected, at another port", async () => {
    const { logger, lines } = loggedLines("WARN");
    const host = await startToy(1, { logger });
    await startToy(2, { maintained: [host.address] });
    await until(() => host.network.peerCount === 1);
    const second = { ...helloOf(identity(2)), listenPort: 4_321 };
    for (const _ of [1, 2])
      expect(await sendHello(host, identity(2), second).disconnected).toBe("alreadyConnected");
    expect(lines).toMatchObject([{ message: expect.stringMatching(/^two nodes run with the key of 0x/) }]);
    expect(JSON.stringify(lines)).toContain("127.0.0.1:4321 is refused");
  });

  it("whose Hello names another node id than its key's", async () => {
    const host = await startToy(1);
    const { disconnected } = sendHello(host, identity(2), helloOf(identity(3)));
    expect(await disconnected).toBe("unexpectedIdentity");
    expect(host.network.disconnects).toMatchObject([
      { nodeId: identity(2).nodeId, reason: "unexpectedIdentity", by: "us" },
    ]);
  });
});

/** Connects with this key and any Hello; resolves to the node's disconnect reason. */
function sendHello(node: ToyNode, own: Identity, hello: Hello): { disconnected: Promise<string> } {
  const socket = callNode(node.address);
  const disconnected = new Promise<string>((resolve) => {
    const wire: Wire = new Wire(
      { own, hello, remoteId: node.identity.nodeId },
      {
        write: (bytes) => void socket.write(bytes),
        queued() {
          for (let bytes = wire.next(); bytes !== undefined; bytes = wire.next()) socket.write(bytes);
        },
        opened: () => undefined,
        message: () => undefined,
        ponged: () => undefined,
        disconnected: resolve,
        broken: (reason) => resolve(`we: ${reason}`),
      },
    );
    socket.on("connect", () => wire.start());
    socket.on("data", (chunk) => wire.receive(chunk));
  });
  return { disconnected };
}

function helloOf({ nodeId }: Identity): Hello {
  return ownHello({ clientId: "untrusted", capabilities: TOY, listenPort: 0, nodeId });
}

async function pair(): Promise<readonly [ToyNode, ToyNode]> {
  const [alice, bob] = [await startToy(1), await startToy(2)];
  alice.network.addPeer(bob.address);
  await until(() => alice.network.peerCount === 1 && bob.network.peerCount === 1);
  return [alice, bob];
}
