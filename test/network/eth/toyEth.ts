import { createForkIds } from "../../../src/chainspec/forkId.ts";
import type { EthMessage, MessageKind } from "../../../src/network/eth/message.ts";
import { CODES } from "../../../src/network/eth/message.ts";
import { decodeMessage, encodeMessage } from "../../../src/network/eth/messages.ts";
import type { AnnouncedBlock, EthPool } from "../../../src/network/eth/ports.ts";
import { createEth, type Eth } from "../../../src/network/eth/protocol.ts";
import type { DisconnectReason } from "../../../src/network/rlpx/disconnectReason.ts";
import type { Session } from "../../../src/network/subProtocol.ts";
import { createLogger } from "../../../src/observability/logger.ts";
import { toDigits } from "../../../src/primitives/hex.ts";
import { addressOfPublicKey } from "../../../src/primitives/secp256k1.ts";
import type { Transaction } from "../../../src/types/transaction.ts";
import { createHandClock, type HandClock } from "../../builders/handClock.ts";
import { type RecordedChain, recordedChain } from "../../builders/recordedChain.ts";
import { identity } from "../identities.ts";

/** A pool that takes whatever it is offered. */
export interface ToyPool extends EthPool {
  isOpen: boolean;
  readonly offered: Transaction[];
  put(transaction: Transaction): void;
}

export function createToyPool(): ToyPool {
  const byHash = new Map<string, Transaction>();
  const offered: Transaction[] = [];
  return {
    isOpen: true,
    offered,
    put: (transaction) => void byHash.set(toDigits(transaction.hash), transaction),
    get: (hash) => byHash.get(toDigits(hash)),
    transactions: () => byHash.values(),
    offer(transactions) {
      offered.push(...transactions);
      return { accepted: transactions.length, rejected: 0 };
    },
  };
}

/** Our side, with a recorded chain, over sessions whose other end a test plays. */
export interface ToyEth {
  readonly eth: Eth;
  readonly chain: RecordedChain;
  readonly pool: ToyPool;
  readonly clock: HandClock;
  readonly blocks: AnnouncedBlock[];
  /** The other end of a new session; the peer is the same for the same number. */
  meet(number: number, change?: { readonly isLasting?: boolean }): OtherEnd;
  /** As meet, with Status exchanged and the head shown. */
  befriend(number: number): Promise<OtherEnd>;
}

export interface OtherEnd {
  readonly session: Session;
  /** What we sent, read again. */
  readonly heard: EthMessage[];
  readonly reason: DisconnectReason | undefined;
  readonly useless: number;
  readonly isGreeted: boolean;
  say(message: EthMessage): void;
  sayBytes(code: number, payload: Uint8Array): void;
  /** So many bytes come of a message that is not complete. */
  sendPart(bytes: number): void;
  /** Status with our own words, but for the changes. */
  introduce(): void;
  last<K extends MessageKind>(kind: K): Extract<EthMessage, { kind: K }>;
}

export function createToyEth(network: "net1" | "net2" = "net2"): ToyEth {
  const chain = recordedChain(network);
  const pool = createToyPool();
  const clock = createHandClock(1_000_000);
  const announced: AnnouncedBlock[] = [];
  const eth = createEth({
    identity: {
      networkId: network === "net1" ? 7171n : 7772n,
      forkIds: createForkIds(chain.genesis.hash, { blocks: [], times: [] }),
    },
    chain,
    pool,
    defer: (action) => action(),
    clock,
    chance: () => 0.999,
    logger: createLogger({ level: "OFF", moduleLevels: {}, format: "json", isColored: false }),
    onBlock: (block) => void announced.push(block),
    onPeersChanged: () => undefined,
  });
  const toy: ToyEth = {
    eth,
    chain,
    pool,
    clock,
    blocks: announced,
    meet: (number, { isLasting = true } = {}) => createOtherEnd(eth, number, isLasting),
    async befriend(number) {
      const end = toy.meet(number);
      end.introduce();
      const { requestId } = end.last("getBlockHeaders");
      end.say({ kind: "blockHeaders", requestId, headers: [chain.head.header] });
      await settled();
      return end;
    },
  };
  return toy;
}

function createOtherEnd(eth: Eth, number: number, isLasting: boolean): OtherEnd {
  const { nodeId } = identity(number);
  const heard: EthMessage[] = [];
  let reason: DisconnectReason | undefined;
  let isGreeted = false;
  let useless = 0;
  let receivedBytes = 0;
  const session: Session = {
    nodeId,
    address: addressOfPublicKey(nodeId),
    hello: { p2pVersion: 5, clientId: "toy", capabilities: [], listenPort: 0, nodeId },
    version: 68,
    isInbound: false,
    remote: { host: "127.0.0.1", port: 1 },
    isLasting,
    isMaintained: false,
    share: { isTrusted: false, take: (work) => work(), spend: () => undefined },
    get receivedBytes() {
      return receivedBytes;
    },
    send(code, payload) {
      if (reason !== undefined) return false;
      const read = decodeMessage(code, payload);
      if (!read.ok) throw new Error(`we sent what cannot be read: ${read.error.message}`);
      heard.push(read.value);
      return true;
    },
    disconnect(why) {
      if (reason !== undefined) return;
      reason = why;
      eth.protocol.onClose(session, why);
    },
    greeted() {
      isGreeted = true;
    },
    reward: () => undefined,
    penalise() {
      useless++;
    },
  };
  const end: OtherEnd = {
    session,
    heard,
    get reason() {
      return reason;
    },
    get isGreeted() {
      return isGreeted;
    },
    get useless() {
      return useless;
    },
    say: (message) => end.sayBytes(CODES[message.kind], encodeMessage(message)),
    sayBytes(code, payload) {
      if (reason === undefined) eth.protocol.onMessage(session, code, payload);
    },
    sendPart(bytes) {
      receivedBytes += bytes;
    },
    introduce: () => end.say(end.last("status")),
    last(kind) {
      const found = heard.findLast((message) => message.kind === kind);
      if (found === undefined) throw new Error(`no ${kind} was sent`);
      return found as ReturnType<typeof end.last<typeof kind>>;
    },
  };
  eth.protocol.onOpen(session);
  return end;
}

/** After whatever is under way. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
