import { ForkIds } from "../../../src/chainspec/forkId.ts";
import { encodeMessage } from "../../../src/network/eth/messageCodec.ts";
import type { EthMessage, EthVersion, MessageKind } from "../../../src/network/eth/messages.ts";
import { CODES } from "../../../src/network/eth/messages.ts";
import type { AnnouncedBlock, EthPool } from "../../../src/network/eth/ports.ts";
import { createEth, type Eth } from "../../../src/network/eth/protocol.ts";
import type { DisconnectReason } from "../../../src/network/rlpx/disconnectReason.ts";
import type { Session } from "../../../src/network/subProtocol.ts";
import type { InputRefusal } from "../../../src/network/traffic.ts";
import { createLogger } from "../../../src/observability/logger.ts";
import type { Hash } from "../../../src/primitives/hash.ts";
import { toDigits } from "../../../src/primitives/hex.ts";
import { addressOfPublicKey } from "../../../src/primitives/secp256k1.ts";
import type { Transaction } from "../../../src/types/transaction.ts";
import { createHandClock, type HandClock } from "../../builders/handClock.ts";
import { type RecordedChain, recordedChain } from "../../builders/recordedChain.ts";
import { identity } from "../identities.ts";
import { decodeByCode } from "./decodeByCode.ts";

/** A pool that accepts everything. */
export interface ToyPool extends EthPool {
  isOpen: boolean;
  isSaturated: boolean;
  readonly offered: Transaction[];
  put(transaction: Transaction): void;
}

export function createToyPool(): ToyPool {
  const byHash = new Map<string, Transaction>();
  const offered: Transaction[] = [];
  return {
    isOpen: true,
    isSaturated: false,
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

/** The eth protocol on a recorded chain, over sessions whose remote end a test plays. */
export interface ToyEth {
  readonly eth: Eth;
  readonly chain: RecordedChain;
  readonly pool: ToyPool;
  readonly clock: HandClock;
  readonly blocks: AnnouncedBlock[];
  /** What peers did in vain, and how often. */
  readonly refused: Partial<Record<InputRefusal, number>>;
  /** Opens a session and returns its remote end; equal numbers are the same peer. */
  connect(number: number, change?: ConnectionChoices): RemotePeer;
  /** As connect, with Status exchanged; both have the same head. */
  connectReady(number: number, change?: ConnectionChoices): Promise<RemotePeer>;
}

interface ConnectionChoices {
  readonly isLasting?: boolean;
  /** Of eth; 68 unless given. */
  readonly version?: EthVersion;
}

export interface RemotePeer {
  readonly session: Session;
  /** Messages sent to it, decoded. */
  readonly received: EthMessage[];
  readonly reason: DisconnectReason | undefined;
  readonly penalties: number;
  readonly isGreeted: boolean;
  send(message: EthMessage): void;
  sendBytes(code: number, payload: Uint8Array): void;
  /** Receives part of an incomplete message. */
  sendPart(bytes: number): void;
  /** Sends back our own Status, or one with another head. */
  sendStatus(headHash?: Hash): void;
  /** This node learns that the connection has ended. */
  close(why: DisconnectReason): void;
  last<K extends MessageKind>(kind: K): Extract<EthMessage, { kind: K }>;
}

export function createToyEth(network: "net1" | "net2" = "net2"): ToyEth {
  const chain = recordedChain(network);
  const pool = createToyPool();
  const clock = createHandClock(1_000_000);
  const announced: AnnouncedBlock[] = [];
  const refused: ToyEth["refused"] = {};
  const eth = createEth({
    identity: {
      networkId: network === "net1" ? 7171n : 7772n,
      forkIds: new ForkIds(chain.genesis.hash, { blocks: [], times: [] }),
    },
    chain,
    pool,
    defer: (action) => action(),
    clock,
    chance: () => 0.999,
    logger: createLogger({ level: "OFF", moduleLevels: {}, format: "json", isColored: false }),
    onBlock: (block) => void announced.push(block),
    onRefused(reason, count) {
      refused[reason] = (refused[reason] ?? 0) + count;
    },
  });
  const toy: ToyEth = {
    eth,
    chain,
    pool,
    clock,
    blocks: announced,
    refused,
    connect: (number, change) => createRemotePeer(eth, number, change),
    async connectReady(number, change) {
      const end = toy.connect(number, change);
      end.sendStatus();
      await settled();
      return end;
    },
  };
  return toy;
}

function createRemotePeer(
  eth: Eth,
  number: number,
  { isLasting = true, version = 68 }: ConnectionChoices = {},
): RemotePeer {
  const protocol = eth.protocols.find((one) => one.version === version);
  if (protocol === undefined) throw new Error(`eth/${version} is not spoken`);
  const { nodeId } = identity(number);
  const received: EthMessage[] = [];
  let reason: DisconnectReason | undefined;
  let isGreeted = false;
  let penalties = 0;
  let receivedBytes = 0;
  const session: Session = {
    nodeId,
    address: addressOfPublicKey(nodeId),
    hello: { p2pVersion: 5, clientId: "toy", capabilities: [], listenPort: 0, nodeId },
    version,
    isInbound: false,
    remote: { host: "127.0.0.1", port: 1 },
    isLasting,
    isMaintained: false,
    share: { isTrusted: false, take: (work) => work(), spend: () => undefined },
    get isReady() {
      return isGreeted;
    },
    get receivedBytes() {
      return receivedBytes;
    },
    send(code, payload) {
      if (reason !== undefined) return false;
      const read = decodeByCode(code, payload, version);
      if (!read.ok) throw new Error(`we sent a malformed message: ${read.error.message}`);
      received.push(read.value);
      return true;
    },
    disconnect(why) {
      if (reason !== undefined) return;
      reason = why;
      protocol.onClose(session, why);
    },
    greeted() {
      isGreeted = true;
    },
    reward: () => undefined,
    penalise() {
      penalties++;
    },
  };
  const end: RemotePeer = {
    session,
    received,
    get reason() {
      return reason;
    },
    get isGreeted() {
      return isGreeted;
    },
    get penalties() {
      return penalties;
    },
    send: (message) => end.sendBytes(CODES[message.kind], encodeMessage(message)),
    sendBytes(code, payload) {
      if (reason === undefined) protocol.onMessage(session, code, payload);
    },
    sendPart(bytes) {
      receivedBytes += bytes;
    },
    close: (why) => protocol.onClose(session, why),
    sendStatus(headHash) {
      const { status } = end.last("status");
      end.send({ kind: "status", status: { ...status, headHash: headHash ?? status.headHash } });
    },
    last(kind) {
      const found = received.findLast((message) => message.kind === kind);
      if (found === undefined) throw new Error(`no ${kind} was sent`);
      return found as ReturnType<typeof end.last<typeof kind>>;
    },
  };
  protocol.onOpen(session);
  return end;
}

/** Resolves after pending work. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
