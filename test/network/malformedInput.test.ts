import { ECIES } from "@ethereumjs/devp2p";
import { describe, expect, it } from "vitest";
import { encodeHello } from "../../src/network/rlpx/hello.ts";
import { clockOf, systemClock } from "../../src/primitives/clock.ts";
import { concatBytes, toDigits } from "../../src/primitives/hex.ts";
import { encodeRlpIndex, encodeRlpList, encodeRlpString } from "../../src/primitives/rlp.ts";
import { TEST_HANG_MS } from "../hang.ts";
import { createRandom } from "../simulation/random.ts";
import { type Identity, identity } from "./identities.ts";
import { closeAfterEach, createToy, startToy, type ToyNode, until } from "./toyNetwork.ts";
import { connectUntrusted, type UntrustedPeer, untrustedHello } from "./untrustedPeer.ts";

closeAfterEach();

const UNTRUSTED = identity(100);
const HELLO = Uint8Array.of(0x80);
const MIB = 1024 ** 2;

/**
 * What an untrusted peer does, and how the node ends the connection. `isKnown`: whether the node can tell which peer it
 * was.
 */
const CASES: readonly [
  name: string,
  act: (peer: UntrustedPeer, node: ToyNode) => Promise<void> | void,
  told: string,
  remembered: { readonly reason: string; readonly detail: RegExp; readonly isKnown: boolean },
][] = [
  [
    "speaks HTTP",
    ({ write }) => write(Buffer.from("GET / HTTP/1.1\r\n\r\n")),
    "closed",
    { reason: "breachOfProtocol", detail: /no auth packet begins with a size/, isKnown: false },
  ],
  [
    "changes a bit of its auth packet",
    ({ handshake }) => handshake((auth) => auth.map((byte, index) => (index === 90 ? byte ^ 4 : byte))),
    "closed",
    { reason: "breachOfProtocol", detail: /not on the curve|MAC is wrong/, isKnown: false },
  ],
  [
    "encrypts nonsense in its auth packet",
    ({ write }, node) => write(sealed(node, new Uint8Array(300).fill(0xc1))),
    "closed",
    { reason: "breachOfProtocol", detail: /./, isKnown: false },
  ],
  [
    "encrypts nested lists",
    ({ write }, node) => write(sealed(node, nested(800))),
    "closed",
    { reason: "breachOfProtocol", detail: /./, isKnown: false },
  ],
  [
    "follows the handshake with noise",
    async (peer) => {
      await peer.handshake();
      peer.write(new Uint8Array(64).fill(7));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /MAC of a frame's header/, isKnown: false },
  ],
  [
    "sends a frame too large for Hello",
    async (peer) => {
      await peer.handshake();
      peer.write(peer.frame(new Uint8Array(9000)).subarray(0, 32));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /9000 bytes is longer than 8192/, isKnown: false },
  ],
  [
    "sends a message before Hello",
    async (peer) => {
      await peer.handshake();
      peer.write(peer.frame(Uint8Array.of(0x10, 0xc0)));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /message 16 came before Hello/, isKnown: true },
  ],
  [
    "sends an empty frame",
    async (peer) => {
      await peer.handshake();
      peer.write(peer.frame(new Uint8Array(0)));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /no message id/, isKnown: true },
  ],
  [
    "sends half a Hello",
    async (peer) => {
      await peer.handshake();
      const hello = encodeHello(untrustedHello(UNTRUSTED));
      peer.write(peer.frame(concatBytes(HELLO, hello.subarray(0, 50))));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /Hello is malformed/, isKnown: true },
  ],
  [
    "sends nested lists for a Hello",
    async (peer) => {
      await peer.handshake();
      peer.write(peer.frame(concatBytes(HELLO, nested(8000))));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /Hello is malformed/, isKnown: true },
  ],
  [
    "announces 16 MiB in a few compressed bytes",
    async (peer) => {
      await peer.open();
      peer.write(peer.frame(Uint8Array.of(0x10, 0xfe, 0xff, 0xff, 0x07, 0x00, 0xaa)));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /its length cannot be true/, isKnown: true },
  ],
  [
    "announces more than any message may have",
    async (peer) => {
      await peer.open();
      peer.write(peer.frame(Uint8Array.of(0x10, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00)));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /4294967295 bytes are more/, isKnown: true },
  ],
  [
    "does not compress",
    async (peer) => {
      await peer.open();
      peer.write(peer.frame(Uint8Array.of(0x10, 0xc2, 0x01, 0x02)));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /bad snappy/, isKnown: true },
  ],
  [
    "changes a bit of a frame",
    async (peer) => {
      await peer.open();
      peer.write(peer.frame(new Uint8Array(100)).map((byte, index) => (index === 60 ? byte ^ 1 : byte)));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /MAC of a frame's body/, isKnown: true },
  ],
  [
    "sends a message id of two bytes that needs one",
    async (peer) => {
      await peer.open();
      peer.write(peer.frame(Uint8Array.of(0x81, 0x10, 0x01, 0x00, 0xc0)));
    },
    "breachOfProtocol",
    { reason: "breachOfProtocol", detail: /no message id/, isKnown: true },
  ],
];

describe("an untrusted peer is disconnected and remembered when it", () => {
  it.each(CASES)("%s", async (_, act, expected, { reason, detail, isKnown }) => {
    const node = await startToy(1);
    const peer = connectUntrusted(node, UNTRUSTED);
    await act(peer, node);
    expect(await peer.disconnected).toBe(expected);
    await until(() => node.network.disconnects.length > 0);
    expect(node.network.disconnects).toMatchObject([
      { reason, by: "us", detail: expect.stringMatching(detail) },
    ]);
    expect(node.network.disconnects[0]?.nodeId).toEqual(isKnown ? UNTRUSTED.nodeId : undefined);
    const again = connectUntrusted(node, UNTRUSTED);
    await again.open();
    // A peer that has proven its id is banned; otherwise the key's owner is not to blame.
    if (isKnown) expect(await again.disconnected).toBe("unknown");
    else await until(() => node.network.peerCount === 1);
  });
});

describe("unusual but allowed input is ignored", () => {
  it("unassigned ids, ids beyond all protocols, a second Hello, Pongs, many Pings", async () => {
    const node = await startToy(1);
    const peer = connectUntrusted(node, UNTRUSTED);
    await peer.open();
    for (let count = 0; count < 500; count++) peer.send(0x02, Uint8Array.of(0xc0));
    peer.send(0x03, Uint8Array.of(0xc0));
    peer.send(0x0f, Uint8Array.of(1));
    peer.send(0x14, Uint8Array.of(1));
    peer.send(0x7f, Uint8Array.of(1));
    peer.write(peer.frame(Uint8Array.of(0x81, 0xff, 0x00)));
    peer.send(0x80, encodeHello(untrustedHello(UNTRUSTED)));
    peer.send(0x13, Uint8Array.of(9));
    await until(() => node.toy.received.length === 1);
    expect(node.toy.received).toMatchObject([{ code: 3, payload: Uint8Array.of(9) }]);
    expect(node.network.peerCount).toBe(1);
  });

  it("a replayed handshake, for which its author is not blamed", async () => {
    const node = await startToy(1);
    let recorded = new Uint8Array(0);
    const honest = connectUntrusted(node, UNTRUSTED);
    await honest.handshake((auth) => {
      recorded = Uint8Array.from(auth);
      return auth;
    });
    const thief = connectUntrusted(node, identity(101));
    thief.write(recorded);
    thief.write(new Uint8Array(64));
    expect(await thief.disconnected).not.toBe(undefined);
    await until(() => node.network.disconnects.length > 0);
    expect(node.network.disconnects.map(({ nodeId }) => nodeId)).toEqual([undefined]);
  });

  it("an exception in a protocol ends that connection and no other", async () => {
    const toy = createToy();
    const fragile = {
      ...toy,
      onMessage: () => {
        throw new Error("a bug");
      },
    };
    const node = await startToy(1, { toy, protocols: [fragile] });
    const honest = await startToy(2);
    honest.network.addPeer(node.address);
    await until(() => node.network.peerCount === 1);
    const peer = connectUntrusted(node, UNTRUSTED);
    await peer.open();
    peer.send(0x10, Uint8Array.of(1));
    expect(await peer.disconnected).toBe("requested");
    expect(node.network.peerCount).toBe(1);
  });
});

const SEED = Number(process.env["IBEX_SEED"] ?? 7);
const PEERS = Number(process.env["IBEX_UNTRUSTED_PEERS"] ?? 60);

describe(`${PEERS} untrusted peers with mutated packets, frames and messages (IBEX_SEED=${SEED})`, () => {
  it(
    "neither stop the node, nor disturb honest peers, nor fill its memory",
    async () => {
      const draw = createRandom(SEED).next;
      // Connections are opened faster than the node accepts them, so its clock runs ahead.
      let aheadMs = 0;
      const node = await startToy(1, { clock: clockOf(() => systemClock.nowMs() + aheadMs) });
      const honest = [await startToy(2), await startToy(3)];
      for (const { network } of honest) network.addPeer(node.address);
      await until(() => node.network.peerCount === 2);
      const before = process.memoryUsage();
      let sent = 0;
      for (let number = 0; number < PEERS; number++) {
        aheadMs += 20;
        const own = identity(1000 + number);
        const peer = connectUntrusted(node, own);
        await misbehave(peer, own, node, draw);
        peer.socket.end();
        await peer.disconnected;
        for (const { toy, identity: friend } of honest) {
          const session = toy.sessionWith(node.identity);
          if (session?.send(1, Uint8Array.of(number & 0xff)) === true) sent++;
          expect(toDigits(friend.nodeId)).not.toBe(toDigits(own.nodeId));
        }
      }
      const honestIds = new Set(honest.map(({ identity: { nodeId } }) => toDigits(nodeId)));
      const receivedFromHonest = (): number =>
        node.toy.received.filter(({ from }) => honestIds.has(from)).length;
      await until(() => receivedFromHonest() === 2 * PEERS);
      expect(sent).toBe(2 * PEERS);
      await until(() => node.network.peerCount === 2);
      expect(node.network.disconnects.length).toBeGreaterThan(0);
      expect(node.network.disconnects.length).toBeLessThanOrEqual(500);
      node.toy.received.length = 0;
      (globalThis as { gc?: () => void }).gc?.();
      const after = process.memoryUsage();
      expect(after.arrayBuffers + after.external - before.arrayBuffers - before.external).toBeLessThan(
        64 * MIB,
      );
      expect(after.heapUsed - before.heapUsed).toBeLessThan(128 * MIB);
    },
    TEST_HANG_MS + PEERS * 500,
  );
});

/** Sends one malformed input at a random stage of the protocol. */
async function misbehave(
  peer: UntrustedPeer,
  own: Identity,
  node: ToyNode,
  draw: () => number,
): Promise<void> {
  const noise = (most: number): Uint8Array =>
    Uint8Array.from({ length: Math.floor(draw() * most) }, () => draw() * 256);
  const mutate = (bytes: Uint8Array): Uint8Array => mutated(bytes, draw, noise);
  const depth = Math.floor(draw() * 6);
  if (depth === 0) return peer.write(noise(1200));
  if (depth === 1) return peer.write(sealed(node, mutate(authPlain(own))));
  if (depth === 2) {
    const isDone = peer.handshake(mutate);
    // The node waits for the rest of a truncated packet, so the peer leaves.
    peer.socket.end();
    return isDone;
  }
  if (depth === 3) {
    await peer.handshake();
    const body = concatBytes(HELLO, mutate(encodeHello(untrustedHello(own))));
    return peer.write(draw() < 0.5 ? peer.frame(body) : mutate(peer.frame(body)));
  }
  await peer.open();
  const body = concatBytes(Uint8Array.of(draw() * 0x18), mutate(Uint8Array.of(3, 8, 1, 2, 3)));
  for (let count = Math.floor(draw() * 5); count >= 0; count--) {
    peer.write(depth === 4 ? peer.frame(body) : mutate(peer.frame(noise(5000))));
  }
}

function mutated(bytes: Uint8Array, draw: () => number, noise: (most: number) => Uint8Array): Uint8Array {
  const at = Math.floor(draw() * bytes.length);
  switch (Math.floor(draw() * 5)) {
    case 0:
      return bytes.map((byte, index) => (index === at ? byte ^ (1 << Math.floor(draw() * 8)) : byte));
    case 1:
      return bytes.slice(0, at);
    case 2:
      return concatBytes(bytes, noise(300));
    case 3:
      return concatBytes(bytes.subarray(0, at), noise(40), bytes.subarray(at));
    default:
      return bytes.map((byte, index) => (index >= at && index < at + 8 ? draw() * 256 : byte));
  }
}

/** The plaintext of an auth packet with an invalid signature. */
function authPlain({ nodeId }: Identity): Uint8Array {
  const list = encodeRlpList([
    encodeRlpString(new Uint8Array(65).fill(1)),
    encodeRlpString(nodeId),
    encodeRlpString(new Uint8Array(32).fill(2)),
    encodeRlpIndex(4),
  ]);
  return concatBytes(list, new Uint8Array(150));
}

/** A packet that decrypts, whatever its content. */
function sealed({ identity: { nodeId } }: ToyNode, plain: Uint8Array): Uint8Array {
  const size = Uint8Array.of((plain.length + 113) >> 8, (plain.length + 113) & 0xff);
  const packet = new ECIES(UNTRUSTED.privateKey, UNTRUSTED.nodeId, nodeId)._encryptMessage(plain, size);
  return concatBytes(size, packet ?? new Uint8Array(0));
}

/** Nested lists, as many as fit into `length` bytes. */
function nested(length: number): Uint8Array {
  const bytes = new Uint8Array(length).fill(0xc0);
  let at = length - 1;
  for (let inside = 1; at >= 0; inside = length - at) {
    const header =
      inside < 56 ? [0xc0 + inside] : inside < 256 ? [0xf8, inside] : [0xf9, inside >> 8, inside & 0xff];
    if (at - header.length < 0) break;
    at -= header.length;
    bytes.set(header, at);
  }
  return bytes.subarray(at);
}
