import { CODES } from "../../src/network/eth/message.ts";
import { encodeHello } from "../../src/network/rlpx/hello.ts";
import { compressSnappy } from "../../src/network/rlpx/snappy.ts";
import { concatBytes } from "../../src/primitives/hex.ts";
import { hashOfHeader } from "../../src/types/blockHash.ts";
import { connectUntrusted, type UntrustedPeer, untrustedHello } from "../network/untrustedPeer.ts";
import {
  announcing,
  type Battlefield,
  certificateBy,
  hashOf,
  headersFrom,
  hugeProposalBy,
  madeUpTransactions,
  newStranger,
  prepareBy,
  repeat,
} from "./hostileMessages.ts";
import { callAsHostile, ETH, type HostilePeer } from "./hostilePeer.ts";
import { pause } from "./nodeProcess.ts";

const MIB = 1024 ** 2;

/** Goes on until it is over, with as many peers as it likes. */
export type Attack = (field: Battlefield, isOver: () => boolean) => Promise<void>;

export const ATTACKS: Readonly<Record<string, Attack>> = {
  async "five hundred connections with nothing, noise, or half a handshake"({ target }, isOver) {
    const calls = Array.from({ length: 500 }, (_, index) => {
      const stranger = connectUntrusted({ address: target }, newStranger());
      if (index % 3 === 1) stranger.write(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
      if (index % 3 === 2) void stranger.handshake((auth) => auth.subarray(0, 100));
      return stranger;
    });
    await untilOver(isOver);
    for (const { socket } of calls) socket.destroy();
  },
  async "handshakes without end"({ target }, isOver) {
    while (!isOver()) {
      const calls = Array.from({ length: 20 }, () => connectUntrusted({ address: target }, newStranger()));
      await Promise.race([Promise.all(calls.map((call) => call.handshake())), pause(500)]);
      for (const { socket } of calls) socket.destroy();
    }
  },
  "Pings without end": flood(4, (peer) => repeat(500, () => peer.send(0x02, Uint8Array.of(0xc0)))),
  async "bombs of compression"({ target }, isOver) {
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
  "proposals of many megabytes for heights to come": flood(3, async (peer, { headNumber, validatorKey }) => {
    const height = BigInt((await headNumber()) + 2 + Math.floor(Math.random() * 8));
    peer.send(...hugeProposalBy(validatorKey, height, 4 * MIB));
    await pause(100);
  }),
  "a validator's messages for rounds without end": flood(1, async (peer, { headNumber, validatorKey }) => {
    const height = BigInt(await headNumber()) + 1n;
    repeat(200, (index) => peer.send(...prepareBy(validatorKey, height, 1 + index)));
    await pause(200);
  }),
  "certificates of thousands of signatures": flood(2, async (peer, { headNumber, validatorKey }) => {
    const height = BigInt(await headNumber()) + 1n;
    const [id, payload] = certificateBy(validatorKey, height, 1 + Math.floor(Math.random() * 1e6), 3000);
    repeat(10, () => peer.send(id, payload));
    await pause(100);
  }),
  "blocks that nobody sealed": flood(2, async (peer) => {
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
  "announcements of transactions that nobody has": flood(3, async (peer) => {
    peer.say(announcing(4000));
    await pause(50);
  }),
  "transactions that nobody signed, or nobody pays for": flood(3, async (peer) => {
    const payload = madeUpTransactions(5000, { recovers: Math.random() < 0.5 });
    repeat(3, () => peer.send(ETH + CODES.transactions, payload));
    await pause(100);
  }),
  "a height that nobody has": flood(3, async (peer) => {
    peer.say({ kind: "newBlockHashes", blocks: [{ hash: hashOf("far"), number: 10n ** 9n }] });
    await pause(500);
  }),
  "questions without end": flood(3, async (peer) => {
    repeat(50, () => peer.say(headersFrom(0n, 512)));
    await pause(20);
  }),
  "questions whose answers are never read": flood(3, async (peer, { largeBlock }) => {
    peer.socket.pause();
    const hashes = Array.from({ length: 128 }, () => largeBlock);
    repeat(10, () => peer.say({ kind: "getBlockBodies", requestId: 1n, hashes }));
    await pause(50);
  }),
};

/** So many peers at a time, each as often as it may; who was sent away comes back as another. */
function flood(count: number, act: (peer: HostilePeer, field: Battlefield) => Promise<void> | void): Attack {
  return async (field, isOver) => {
    async function attack(): Promise<void> {
      while (!isOver()) {
        const peer = callAsHostile(field.target, newStranger());
        await peer.isGreeted;
        while (!isOver() && !peer.isGone()) {
          await act(peer, field);
          // What was written goes out.
          await pause(0);
        }
        peer.socket.destroy();
        await pause(50);
      }
    }
    await Promise.all(Array.from({ length: count }, attack));
  };
}

/** Undefined when the node had no room. */
async function enter(address: Battlefield["target"]): Promise<UntrustedPeer | undefined> {
  const own = newStranger();
  const stranger = connectUntrusted({ address }, own);
  const capabilities = [
    { name: "IBF", version: 1 },
    { name: "eth", version: 68 },
  ];
  const hello = encodeHello({ ...untrustedHello(own), capabilities });
  const isIn = stranger.open(hello).then(
    () => true,
    () => false,
  );
  const isOut = Promise.race([stranger.disconnected, pause(1000)]).then(() => false);
  if (await Promise.race([isIn, isOut])) return stranger;
  stranger.socket.destroy();
  return undefined;
}

async function untilOver(isOver: () => boolean): Promise<void> {
  while (!isOver()) await pause(50);
}
