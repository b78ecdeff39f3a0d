import { CODES } from "../../../src/network/eth/messages.ts";
import { encodeHello } from "../../../src/network/rlpx/hello.ts";
import { compressSnappy } from "../../../src/network/rlpx/snappy.ts";
import { concatBytes } from "../../../src/primitives/hex.ts";
import { hashOfHeader } from "../../../src/types/blockHash.ts";
import { connectUntrusted, type UntrustedPeer, untrustedHello } from "../../network/untrustedPeer.ts";
import {
  type AttackContext,
  announcing,
  certificateBy,
  hashOf,
  headersFrom,
  hugeProposalBy,
  madeUpTransactions,
  newIdentity,
  prepareBy,
  repeat,
} from "./hostileMessages.ts";
import { callAsHostile, ETH, type HostilePeer } from "./hostilePeer.ts";
import { pause } from "./nodeProcess.ts";

const MIB = 1024 ** 2;

/** Runs until `isOver`, with any number of peers. */
export type Attack = (context: AttackContext, isOver: () => boolean) => Promise<void>;

export const ATTACKS: Readonly<Record<string, Attack>> = {
  async "five hundred connections that send nothing, noise, or half a handshake"({ target }, isOver) {
    const calls = Array.from({ length: 500 }, (_, index) => {
      const peer = connectUntrusted({ address: target }, newIdentity());
      if (index % 3 === 1) peer.write(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
      if (index % 3 === 2) void peer.handshake((auth) => auth.subarray(0, 100));
      return peer;
    });
    await untilOver(isOver);
    for (const { socket } of calls) socket.destroy();
  },
  async "endless handshakes"({ target }, isOver) {
    while (!isOver()) {
      const calls = Array.from({ length: 20 }, () => connectUntrusted({ address: target }, newIdentity()));
      await Promise.race([Promise.all(calls.map((call) => call.handshake())), pause(500)]);
      for (const { socket } of calls) socket.destroy();
    }
  },
  "endless Pings": flood(4, (peer) => repeat(500, () => peer.send(0x02, Uint8Array.of(0xc0)))),
  async "compression bombs"({ target }, isOver) {
    const bomb = compressSnappy(new Uint8Array(0xff_ff_00));
    while (!isOver()) {
      const peer = await enter(target);
      peer?.write(peer.frame(concatBytes(Uint8Array.of(ETH + 7), bomb)));
      await Promise.race([peer?.disconnected, pause(1000)]);
      peer?.socket.destroy();
    }
  },
  async "frames of 16 MB that never end"({ target }, isOver) {
    const peers = await Promise.all([1, 2, 3, 4].map(() => enter(target)));
    for (const peer of peers) peer?.write(peer.frame(new Uint8Array(0xff_ff_f0)).subarray(0, 8 * MIB));
    await untilOver(isOver);
    for (const peer of peers) peer?.socket.destroy();
  },
  "blocks without seals": flood(2, async (peer) => {
    const parent = peer.shown();
    const hash = hashOfHeader(parent);
    if (!hash.ok) throw new Error(hash.error.message);
    const number = parent.number + 1n;
    const header = { ...parent, parentHash: hash.value, number, timestamp: parent.timestamp + 1n };
    peer.say({
      kind: "newBlock",
      block: { header, transactions: [], ommers: [] },
      totalDifficulty: number + 1n,
    });
    await pause(100);
  }),
  "announcements of transactions that do not exist": flood(3, async (peer) => {
    peer.say(announcing(4000));
    await pause(50);
  }),
  "transactions with invalid signatures, or without a balance": flood(3, async (peer) => {
    const payload = madeUpTransactions(5000, { recovers: Math.random() < 0.5 });
    repeat(3, () => peer.send(ETH + CODES.transactions, payload));
    await pause(100);
  }),
  "an announced height that does not exist": flood(3, async (peer) => {
    peer.say({ kind: "newBlockHashes", blocks: [{ hash: hashOf("far"), number: 10n ** 9n }] });
    await pause(500);
  }),
  "endless requests": flood(3, async (peer) => {
    repeat(50, () => peer.say(headersFrom(0n, 512)));
    await pause(20);
  }),
  "requests whose answers are never read": flood(3, async (peer, { largeBlock }) => {
    peer.socket.pause();
    const hashes = Array.from({ length: 128 }, () => largeBlock);
    repeat(10, () => peer.say({ kind: "getBlockBodies", requestId: 1n, hashes }));
    await pause(50);
  }),
};

/** By the key of a validator that is faulty, and has no node: one that hears itself falls silent. */
export const ATTACKS_BY_VALIDATOR: Readonly<Record<string, Attack>> = {
  "Proposals of many megabytes for future heights": flood(3, async (peer, { headNumber, validatorKey }) => {
    const height = BigInt((await headNumber()) + 2 + Math.floor(Math.random() * 8));
    peer.send(...hugeProposalBy(validatorKey, height, 4 * MIB));
    await pause(100);
  }),
  "a validator's messages for endless rounds": flood(1, async (peer, { headNumber, validatorKey }) => {
    const height = BigInt(await headNumber()) + 1n;
    repeat(200, (index) => peer.send(...prepareBy(validatorKey, height, 1 + index)));
    await pause(200);
  }),
  "certificates with thousands of signatures": flood(2, async (peer, { headNumber, validatorKey }) => {
    const height = BigInt(await headNumber()) + 1n;
    const [id, payload] = certificateBy(validatorKey, height, 1 + Math.floor(Math.random() * 1e6), 3000);
    repeat(10, () => peer.send(id, payload));
    await pause(100);
  }),
};

/** Repeats an action with so many peers at a time; a disconnected peer reconnects with a new identity. */
function flood(
  count: number,
  act: (peer: HostilePeer, context: AttackContext) => Promise<void> | void,
): Attack {
  return async (context, isOver) => {
    async function attack(): Promise<void> {
      while (!isOver()) {
        const peer = callAsHostile(context.target, newIdentity());
        await peer.isGreeted;
        while (!isOver() && !peer.isGone()) {
          await act(peer, context);
          // Lets the socket send what was written.
          await pause(0);
        }
        peer.socket.destroy();
        await pause(50);
      }
    }
    await Promise.all(Array.from({ length: count }, attack));
  };
}

/** Undefined when the node has no room for the peer. */
async function enter(address: AttackContext["target"]): Promise<UntrustedPeer | undefined> {
  const own = newIdentity();
  const peer = connectUntrusted({ address }, own);
  const capabilities = [
    { name: "IBF", version: 1 },
    { name: "eth", version: 68 },
  ];
  const hello = encodeHello({ ...untrustedHello(own), capabilities });
  const isIn = peer.open(hello).then(
    () => true,
    () => false,
  );
  const isOut = Promise.race([peer.disconnected, pause(1000)]).then(() => false);
  if (await Promise.race([isIn, isOut])) return peer;
  peer.socket.destroy();
  return undefined;
}

async function untilOver(isOver: () => boolean): Promise<void> {
  while (!isOver()) await pause(50);
}
