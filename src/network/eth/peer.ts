import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { Hash } from "../../primitives/hash.ts";
import { toDigits } from "../../primitives/hex.ts";
import { larger, smaller } from "../../primitives/quantity.ts";
import { err, ok, type Result } from "../../primitives/result.ts";
import { encodeRlpList, encodeRlpString } from "../../primitives/rlp.ts";
import type { Body } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { Transaction } from "../../types/transaction.ts";
import type { DisconnectReason } from "../rlpx/disconnectReason.ts";
import type { Session } from "../subProtocol.ts";
import { createKnownHashes, type KnownHashes } from "./knownHashes.ts";
import { MAX_CLAIMED_LEAD, MAX_KNOWN_BLOCKS, MAX_KNOWN_TRANSACTIONS } from "./limits.ts";
import type { HeaderQuery, Status } from "./message.ts";
import { encodeHeaderQuery } from "./messages.ts";
import { readBodiesInSlices, readHeaders, readTransactionsInSlices } from "./payloadReaders.ts";
import { createRequests, type RequestErrorCode, type Requests, type ResponseKind } from "./requests.ts";
import { createTransactionScore, type TransactionScore } from "./transactionScore.ts";

export type ResponseErrorCode = RequestErrorCode | "badAnswer";

/** A peer as the eth protocol knows it: by its node id, over one connection or two. */
export interface EthPeer {
  readonly nodeId: Uint8Array;
  /** The node id in hexadecimal digits. */
  readonly key: string;
  /** Of its node's key: the validator's, if it is one. */
  readonly address: Address;
  /** What it said first; undefined before that. */
  readonly status: Status | undefined;
  /**
   * Its best block, as far as it told: later the parent of what it announced, or what it named
   * (p2p.md#block-propagation).
   */
  readonly best: { readonly hash: Hash; readonly totalDifficulty: bigint } | undefined;
  /** Number of a block that it should have; undefined until it has shown the header of its head. */
  readonly height: bigint | undefined;
  /** The operator wants to stay connected with it. */
  readonly isMaintained: boolean;
  readonly knownBlocks: KnownHashes;
  readonly knownTransactions: KnownHashes;
  /** Announced by it and not asked for yet. */
  readonly announced: Map<string, Hash>;
  /** Refused ones gave no answer; a bad one has ended the connection already. */
  requestHeaders(query: HeaderQuery): Promise<Result<readonly Header[], ResponseErrorCode>>;
  requestBodies(hashes: readonly Hash[]): Promise<Result<readonly Body[], ResponseErrorCode>>;
  requestTransactions(hashes: readonly Hash[]): Promise<Result<readonly Transaction[], ResponseErrorCode>>;
  /** Over the connection that lasts; false when there is none. */
  send(code: number, payload: Uint8Array): boolean;
  /** Does what follows from what it sent in its share of time. */
  inShare(work: () => void): void;
  spend(durationMs: number): void;
  readonly isTrusted: boolean;
  readonly transactionScore: TransactionScore;
  reward(): void;
  penalise(): void;
  disconnect(reason: DisconnectReason, detail: string): void;
}

/** What only the protocol does with a peer. */
export interface PeerRecord extends EthPeer {
  status: Status | undefined;
  best: EthPeer["best"];
  height: bigint | undefined;
  /** Its connections; only one over which Status was exchanged is sent anything else. */
  readonly sessions: Map<Session, { isGreeted: boolean }>;
  readonly requests: Requests;
  /** Blocks that it was sent, or whose hashes. */
  readonly sentBlocks: KnownHashes;
  /** By what it said in passing, when our head was `head`. */
  raiseHeight(number: bigint, head: bigint): void;
  /** It has this block; what is worse than its best so far does not count. */
  raiseBest(block: NonNullable<EthPeer["best"]>): void;
}

export function createPeer(
  { nodeId, address }: Pick<Session, "nodeId" | "address">,
  { clock, mostTransactions }: { readonly clock: Clock; readonly mostTransactions: () => number },
): PeerRecord {
  const sessions: PeerRecord["sessions"] = new Map();
  const requests = createRequests({
    clock,
    send: (code, payload) => peer.send(code, payload),
    receivedBytes: () => [...sessions.keys()].reduce((sum, { receivedBytes }) => sum + receivedBytes, 0),
    onTimeout(isRepeated) {
      if (isRepeated) peer.disconnect("timeout", "it leaves questions without answers");
      else peer.penalise();
    },
  });

  /** The connection that stays, of those over which both ends have introduced themselves. */
  function preferred(): Session | undefined {
    let found: Session | undefined;
    for (const [session, { isGreeted }] of sessions) {
      if (!isGreeted) continue;
      if (session.isLasting) return session;
      found ??= session;
    }
    return found;
  }

  /** The answer read by `read`, which throws RangeError; an unreadable one is a breach of protocol. */
  async function request<T>(
    kind: ResponseKind,
    body: Uint8Array,
    read: (list: Uint8Array) => readonly T[] | Promise<readonly T[]>,
  ): Promise<Result<readonly T[], ResponseErrorCode>> {
    const response = await requests.send(kind, body);
    if (!response.ok) return response;
    try {
      const items = await read(response.value);
      // An empty list of transactions is usual: they may have been mined meanwhile.
      if (items.length > 0) peer.reward();
      else if (kind !== "pooledTransactions") peer.penalise();
      return ok(items);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      peer.disconnect("breachOfProtocol", `${kind}: ${error.message}`);
      return err({ code: "badAnswer", fault: "peer", message: error.message });
    }
  }

  const peer: PeerRecord = {
    nodeId,
    key: toDigits(nodeId),
    address,
    status: undefined,
    best: undefined,
    height: undefined,
    sessions,
    requests,
    get isMaintained() {
      return [...sessions.keys()].some((session) => session.isMaintained);
    },
    knownBlocks: createKnownHashes(MAX_KNOWN_BLOCKS),
    knownTransactions: createKnownHashes(MAX_KNOWN_TRANSACTIONS),
    sentBlocks: createKnownHashes(MAX_KNOWN_BLOCKS),
    announced: new Map(),
    requestHeaders: (query) =>
      request("blockHeaders", encodeHeaderQuery(query), (list) => readHeaders(list, Math.max(1, query.max))),
    requestBodies: (hashes) =>
      request("blockBodies", hashList(hashes), (list) =>
        readBodiesInSlices(list, { limit: hashes.length, most: mostTransactions() }),
      ),
    requestTransactions: (hashes) =>
      request("pooledTransactions", hashList(hashes), (list) =>
        readTransactionsInSlices(list, hashes.length),
      ),
    send: (code, payload) => preferred()?.send(code, payload) ?? false,
    inShare(work) {
      // Where one of two connections has just ended, the other may not have introduced itself yet.
      const [first] = sessions.keys();
      const share = (preferred() ?? first)?.share;
      if (share !== undefined) share.take(work);
    },
    spend: (durationMs) => preferred()?.share.spend(durationMs),
    get isTrusted() {
      return [...sessions.keys()].some(({ share }) => share.isTrusted);
    },
    transactionScore: createTransactionScore(clock),
    reward: () => preferred()?.reward(),
    penalise: () => preferred()?.penalise(),
    disconnect(reason, detail) {
      for (const session of [...sessions.keys()]) session.disconnect(reason, detail);
    },
    raiseHeight(number, head) {
      // Before it has shown its head nothing is believed.
      if (peer.height === undefined || number <= peer.height) return;
      peer.height = smaller(number, larger(head + MAX_CLAIMED_LEAD, peer.height + 1n));
    },
    raiseBest({ hash, totalDifficulty }) {
      if (peer.best === undefined || totalDifficulty >= peer.best.totalDifficulty)
        peer.best = { hash, totalDifficulty };
    },
  };
  return peer;
}

function hashList(hashes: readonly Hash[]): Uint8Array {
  return encodeRlpList(hashes.map(encodeRlpString));
}
