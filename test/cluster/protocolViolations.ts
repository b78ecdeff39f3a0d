import { CODES } from "../../src/network/eth/message.ts";
import { concatBytes } from "../../src/primitives/hex.ts";
import { encodeRlpList, encodeRlpString } from "../../src/primitives/rlp.ts";
import {
  announcing,
  type Battlefield,
  hashOf,
  headersFrom,
  madeUpTransactions,
  manyHashes,
  newStranger,
  prepareBy,
  repeat,
} from "./hostileMessages.ts";
import { type Disguise, ETH, type HostilePeer, IBF } from "./hostilePeer.ts";
import { pause } from "./nodeProcess.ts";

/** What a peer does for which it is sent away. */
export interface Offence {
  readonly disguise?: (field: Battlefield) => Disguise;
  /** When it is done: once Hello was exchanged, Status as well, or it has shown its head too. */
  readonly when: "open" | "introduced" | "greeted";
  readonly act?: (peer: HostilePeer, field: Battlefield) => Promise<void> | void;
  readonly told: string;
  /**
   * Whether it is refused when it comes back: who broke the protocol for good, who was of no use for a while. Absent
   * where it depends on what the node notices first.
   */
  readonly isRemembered?: boolean;
}

const BREACH = { told: "breachOfProtocol", isRemembered: true } as const;
const USELESS = { told: "uselessPeer", isRemembered: true } as const;
const OTHER_CHAIN = { told: "subprotocolTriggered", isRemembered: false } as const;

export const OFFENCES: Readonly<Record<string, Offence>> = {
  "shares no protocol": {
    disguise: () => ({ hello: { capabilities: [{ name: "les", version: 4 }] } }),
    when: "open",
    ...USELESS,
  },
  "speaks another version of eth": {
    disguise: () => ({ hello: { capabilities: [{ name: "eth", version: 61 }] } }),
    when: "open",
    ...USELESS,
  },
  "introduces itself as somebody else": {
    disguise: () => ({ hello: { nodeId: newStranger().nodeId } }),
    when: "open",
    told: "unexpectedIdentity",
    isRemembered: false,
  },
  "speaks a version of everything that has no number": {
    disguise: () => ({ hello: { p2pVersion: 70_000 } }),
    when: "open",
    ...BREACH,
  },
  "introduces itself at length": {
    disguise: () => ({ hello: { clientId: "x".repeat(9000) } }),
    when: "open",
    // It has proven nothing yet: a key that somebody else copied could be to blame.
    ...BREACH,
    isRemembered: false,
  },
  "asks before it introduces itself": {
    disguise: () => ({ status: () => undefined }),
    when: "open",
    act: (peer) => peer.say(headersFrom(0n, 1)),
    ...BREACH,
  },
  "is on another network": {
    disguise: () => ({ status: (theirs) => ({ ...theirs, networkId: 1n }) }),
    when: "open",
    ...OTHER_CHAIN,
  },
  "has another genesis block": {
    disguise: () => ({ status: (theirs) => ({ ...theirs, genesisHash: hashOf("another genesis") }) }),
    when: "open",
    ...OTHER_CHAIN,
  },
  "sends a Status that cannot be read": {
    disguise: () => ({ status: () => undefined }),
    when: "open",
    act: (peer) => peer.send(ETH, Uint8Array.of(0xc1, 0x44)),
    ...OTHER_CHAIN,
  },
  "answers what nobody asked": {
    when: "greeted",
    act: (peer) => peer.say({ kind: "blockHeaders", requestId: 77n, headers: [] }),
    ...BREACH,
  },
  "asks for ten thousand transactions at once": {
    when: "greeted",
    act: (peer) => peer.say({ kind: "getPooledTransactions", requestId: 1n, hashes: manyHashes(10_000) }),
    ...BREACH,
  },
  "announces ten thousand transactions at once": {
    when: "greeted",
    act: (peer) => peer.say(announcing(10_000)),
    ...BREACH,
  },
  "asks for more headers than there are numbers": {
    when: "greeted",
    act(peer) {
      const query = [Uint8Array.of(1), new Uint8Array(32).fill(0xff), Uint8Array.of(), Uint8Array.of()];
      const body = encodeRlpList(query.map(encodeRlpString));
      peer.send(ETH + CODES.getBlockHeaders, encodeRlpList([encodeRlpString(Uint8Array.of(1)), body]));
    },
    ...BREACH,
  },
  "sends what is no transaction": {
    when: "greeted",
    act: (peer) => peer.send(ETH + CODES.transactions, encodeRlpList([encodeRlpString(Uint8Array.of(9))])),
    ...BREACH,
  },
  "goes on sending transactions that nobody pays for": {
    when: "greeted",
    act: (peer) => sendMadeUp(peer, true),
    ...USELESS,
  },
  "goes on sending transactions that nobody signed": {
    when: "greeted",
    act: (peer) => sendMadeUp(peer, false),
    ...USELESS,
  },
  "sends a block that is none": {
    when: "greeted",
    act: (peer) => peer.send(ETH + CODES.newBlock, Uint8Array.of(0xc2, 0xc0, 0x01)),
    ...BREACH,
  },
  "sends consensus messages that cannot be read": {
    when: "greeted",
    act: (peer) => repeat(50, (index) => peer.send(IBF + (index % 4), Buffer.from(`nonsense ${index}`))),
    ...USELESS,
  },
  "sends consensus messages of its own, being no validator": {
    when: "greeted",
    async act(peer, { headNumber }) {
      const own = newStranger();
      // What comes after a block in between is of the past, and no offence.
      while (!peer.isGone()) {
        const height = BigInt(await headNumber()) + 1n;
        repeat(10, (round) => peer.send(...prepareBy(own, height, round)));
        await pause(100);
      }
    },
    ...USELESS,
  },
  "asks more than it waits for": {
    when: "greeted",
    act: (peer) => repeat(2000, () => peer.say(headersFrom(0n, 512))),
    ...USELESS,
  },
};

async function sendMadeUp(peer: HostilePeer, recovers: boolean): Promise<void> {
  while (!peer.isGone()) {
    peer.send(ETH + CODES.transactions, madeUpTransactions(500, { recovers }));
    await pause(20);
  }
}

/** Those for which the node has to lose its patience: 5 to 20 s. */
export const SLOW_OFFENCES: Readonly<Record<string, Offence>> = {
  "never introduces itself": {
    disguise: () => ({ status: () => undefined }),
    when: "open",
    told: "timeout",
    isRemembered: false,
  },
  "does not show its head": {
    disguise: () => ({ showsHead: false }),
    when: "open",
    ...USELESS,
  },
  "shows its head byte by byte": {
    disguise: () => ({ showsHead: false }),
    when: "introduced",
    async act(peer) {
      const answer = peer.encode(ETH + CODES.blockHeaders, concatBytes(...manyHashes(20)));
      for (const byte of answer) {
        if (peer.isGone()) return;
        peer.socket.write(Uint8Array.of(byte));
        await pause(50);
      }
    },
    ...USELESS,
  },
  "asks, and does not read": {
    when: "greeted",
    async act(peer, { largeBlock }) {
      peer.socket.pause();
      const hashes = Array.from({ length: 128 }, () => largeBlock);
      while (!peer.isGone() && !peer.socket.destroyed) {
        repeat(2, () => peer.say({ kind: "getBlockBodies", requestId: 1n, hashes }));
        await pause(100);
      }
    },
    told: "hung up",
  },
};
