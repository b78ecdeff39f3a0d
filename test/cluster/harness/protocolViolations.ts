import { CODES } from "../../../src/network/eth/messages.ts";
import { concatBytes } from "../../../src/primitives/hex.ts";
import { encodeRlpList, encodeRlpString } from "../../../src/primitives/rlp.ts";
import {
  type AttackContext,
  announcing,
  hashOf,
  headersFrom,
  madeUpTransactions,
  manyHashes,
  newIdentity,
  prepareBy,
  repeat,
} from "./hostileMessages.ts";
import { type Disguise, ETH, type HostilePeer, IBF } from "./hostilePeer.ts";
import { pause } from "./nodeProcess.ts";

/** Behaviour for which a peer is disconnected. */
export interface Violation {
  readonly disguise?: (context: AttackContext) => Disguise;
  /** When it happens: after the exchange of Hello, of Status, or of the node's head. */
  readonly when: "open" | "introduced" | "greeted";
  readonly act?: (peer: HostilePeer, context: AttackContext) => Promise<void> | void;
  /** The disconnect reason. */
  readonly reason: string;
  /**
   * Whether a second connection is refused: for good after a breach of protocol, for some time as a useless peer. Absent
   * when it depends on which violation the node notices first.
   */
  readonly isBanned?: boolean;
}

const BREACH = { reason: "breachOfProtocol", isBanned: true } as const;
const USELESS = { reason: "uselessPeer", isBanned: true } as const;
const OTHER_CHAIN = { reason: "subprotocolTriggered", isBanned: false } as const;

export const VIOLATIONS: Readonly<Record<string, Violation>> = {
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
  "introduces itself with another node id": {
    disguise: () => ({ hello: { nodeId: newIdentity().nodeId } }),
    when: "open",
    reason: "unexpectedIdentity",
    isBanned: false,
  },
  "claims an impossible version of RLPx": {
    disguise: () => ({ hello: { p2pVersion: 70_000 } }),
    when: "open",
    ...BREACH,
  },
  "sends an overlong client id": {
    disguise: () => ({ hello: { clientId: "x".repeat(9000) } }),
    when: "open",
    // It has not proven yet that it owns the key, so its node id is not banned.
    ...BREACH,
    isBanned: false,
  },
  "sends a request before Status": {
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
  "sends a malformed Status": {
    disguise: () => ({ status: () => undefined }),
    when: "open",
    act: (peer) => peer.send(ETH, Uint8Array.of(0xc1, 0x44)),
    ...OTHER_CHAIN,
  },
  "changes a bit of a frame": {
    when: "greeted",
    act(peer) {
      const frame = peer.encode(ETH + CODES.transactions, concatBytes(...manyHashes(3)));
      peer.socket.write(frame.map((byte, index) => (index === 40 ? byte ^ 1 : byte)));
    },
    ...BREACH,
  },
  "sends an answer without a request": {
    when: "greeted",
    act: (peer) => peer.say({ kind: "blockHeaders", requestId: 77n, headers: [] }),
    ...BREACH,
  },
  "requests ten thousand transactions at once": {
    when: "greeted",
    act: (peer) => peer.say({ kind: "getPooledTransactions", requestId: 1n, hashes: manyHashes(10_000) }),
    ...BREACH,
  },
  "announces ten thousand transactions at once": {
    when: "greeted",
    act: (peer) => peer.say(announcing(10_000)),
    ...BREACH,
  },
  "requests an impossible number of headers": {
    when: "greeted",
    act(peer) {
      const query = [Uint8Array.of(1), new Uint8Array(32).fill(0xff), Uint8Array.of(), Uint8Array.of()];
      const body = encodeRlpList(query.map(encodeRlpString));
      peer.send(ETH + CODES.getBlockHeaders, encodeRlpList([encodeRlpString(Uint8Array.of(1)), body]));
    },
    ...BREACH,
  },
  "sends an invalid transaction": {
    when: "greeted",
    act: (peer) => peer.send(ETH + CODES.transactions, encodeRlpList([encodeRlpString(Uint8Array.of(9))])),
    ...BREACH,
  },
  "keeps sending transactions without a balance to pay for them": {
    when: "greeted",
    act: (peer) => sendMadeUp(peer, true),
    ...USELESS,
  },
  "keeps sending transactions with invalid signatures": {
    when: "greeted",
    act: (peer) => sendMadeUp(peer, false),
    ...USELESS,
  },
  "sends an invalid block": {
    when: "greeted",
    act: (peer) => peer.send(ETH + CODES.newBlock, Uint8Array.of(0xc2, 0xc0, 0x01)),
    ...BREACH,
  },
  "sends malformed consensus messages": {
    when: "greeted",
    act: (peer) => repeat(50, (index) => peer.send(IBF + (index % 4), Buffer.from(`nonsense ${index}`))),
    ...USELESS,
  },
  "sends consensus messages without being a validator": {
    when: "greeted",
    async act(peer, { headNumber }) {
      const own = newIdentity();
      // Messages that arrive after the next block are old, which is no violation.
      while (!peer.isGone()) {
        const height = BigInt(await headNumber()) + 1n;
        repeat(10, (round) => peer.send(...prepareBy(own, height, round)));
        await pause(100);
      }
    },
    ...USELESS,
  },
  "sends more requests than it waits for": {
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

/** Violations that the node notices by timeouts of 5 to 20 s. */
export const SLOW_VIOLATIONS: Readonly<Record<string, Violation>> = {
  "never sends a Status": {
    disguise: () => ({ status: () => undefined }),
    when: "open",
    reason: "timeout",
    isBanned: false,
  },
  "does not answer the head probe": {
    disguise: () => ({ status: (theirs) => ({ ...theirs, headHash: hashOf("a head ahead") }) }),
    when: "open",
    ...USELESS,
  },
  "answers the head probe byte by byte": {
    disguise: () => ({ status: (theirs) => ({ ...theirs, headHash: hashOf("a head ahead") }) }),
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
  "sends requests and reads no answers": {
    when: "greeted",
    async act(peer, { largeBlock }) {
      peer.socket.pause();
      const hashes = Array.from({ length: 128 }, () => largeBlock);
      while (!peer.isGone() && !peer.socket.destroyed) {
        repeat(2, () => peer.say({ kind: "getBlockBodies", requestId: 1n, hashes }));
        await pause(100);
      }
    },
    reason: "hung up",
  },
};
