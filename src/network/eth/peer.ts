import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { Hash } from "../../primitives/hash.ts";
import { toDigits } from "../../primitives/hex.ts";
import { createKnownHashes, type KnownHashes } from "../../primitives/knownHashes.ts";
import { larger, smaller } from "../../primitives/quantity.ts";
import { err, ok, type Result } from "../../primitives/result.ts";
import type { Body } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { Transaction } from "../../types/transaction.ts";
import type { DisconnectReason } from "../rlpx/disconnectReason.ts";
import type { Session } from "../subProtocol.ts";
import { encodeHeaderQuery } from "./headerQuery.ts";
import { MAX_CLAIMED_LEAD, MAX_KNOWN_BLOCKS, MAX_KNOWN_TRANSACTIONS } from "./limits.ts";
import type { HeaderQuery, Status } from "./messageCodes.ts";
import { readBodiesInSlices, readHeaders, readTransactionsInSlices } from "./payloadReaders.ts";
import { createRequests, type RequestErrorCode, type Requests, type ResponseKind } from "./requests.ts";
import { createTransactionScore, type TransactionScore } from "./transactionScore.ts";
import { encodeHashes } from "./wireWriter.ts";

export type ResponseErrorCode = RequestErrorCode | "badAnswer";

/** A peer of the eth protocol, by node id, over one connection or two. */
export interface EthPeer {
  readonly nodeId: Uint8Array;
  /** The node id in hexadecimal digits. */
  readonly key: string;
  /** Address of the node key; the validator's address, if it is a validator. */
  readonly address: Address;
  /** Its Status; undefined before it arrived. */
  readonly status: Status | undefined;
  /**
   * Its best known block: from its Status, later the parent of a block that it announced, or one that it named
   * (p2p.md#block-propagation).
   */
  readonly best: { readonly hash: Hash; readonly totalDifficulty: bigint } | undefined;
  /** Highest block that it should have; undefined until it has returned the header of its head. */
  readonly height: bigint | undefined;
  /** The operator configured it as a peer. */
  readonly isMaintained: boolean;
  readonly knownBlocks: KnownHashes;
  readonly knownTransactions: KnownHashes;
  /** Announced by the peer and not requested yet. */
  readonly announced: Map<string, Hash>;
  /** An error means no valid response; a malformed response has already ended the connection. */
  requestHeaders(query: HeaderQuery): Promise<Result<readonly Header[], ResponseErrorCode>>;
  requestBodies(hashes: readonly Hash[]): Promise<Result<readonly Body[], ResponseErrorCode>>;
  requestTransactions(hashes: readonly Hash[]): Promise<Result<readonly Transaction[], ResponseErrorCode>>;
  /** Sends over the lasting connection; false when there is none. */
  send(code: number, payload: Uint8Array): boolean;
  /** Does work that the peer's input caused, within the peer's time budget. */
  inShare(work: () => void): void;
  spend(durationMs: number): void;
  readonly isTrusted: boolean;
  readonly transactionScore: TransactionScore;
  reward(): void;
  penalise(): void;
  disconnect(reason: DisconnectReason, detail: string): void;
}

/** The protocol's own view of a peer. */
export interface PeerRecord extends EthPeer {
  status: Status | undefined;
  best: EthPeer["best"];
  height: bigint | undefined;
  /** Its connections; before Status nothing else is sent over one. */
  readonly sessions: Map<Session, { isGreeted: boolean }>;
  readonly requests: Requests;
  /** Blocks sent to it, in full or by hash. */
  readonly sentBlocks: KnownHashes;
  /** Raises the height by an unproven claim, bounded above `head`, the local head. */
  raiseHeight(number: bigint, head: bigint): void;
  /** Records a block that it has; a lower total difficulty than its best is ignored. */
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
      if (isRepeated) peer.disconnect("timeout", "it does not respond to requests");
      else peer.penalise();
    },
  });

  /** The lasting connection among those with a completed Status exchange. */
  function preferred(): Session | undefined {
    let found: Session | undefined;
    for (const [session, { isGreeted }] of sessions) {
      if (!isGreeted) continue;
      if (session.isLasting) return session;
      found ??= session;
    }
    return found;
  }

  /**
   * Sends a request and decodes the response with `read`, which throws RangeError; a malformed one is a breach of
   * protocol.
   */
  async function request<T>(
    kind: ResponseKind,
    body: Uint8Array,
    read: (list: Uint8Array) => readonly T[] | Promise<readonly T[]>,
  ): Promise<Result<readonly T[], ResponseErrorCode>> {
    const response = await requests.send(kind, body);
    if (!response.ok) return response;
    try {
      const items = await read(response.value);
      // An empty list of transactions is usual: they may have been mined in the meantime.
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
      request("blockBodies", encodeHashes(hashes), (list) =>
        readBodiesInSlices(list, { limit: hashes.length, most: mostTransactions() }),
      ),
    requestTransactions: (hashes) =>
      request("pooledTransactions", encodeHashes(hashes), (list) =>
        readTransactionsInSlices(list, hashes.length),
      ),
    send: (code, payload) => preferred()?.send(code, payload) ?? false,
    inShare(work) {
      // When one of two connections has just ended, the other may not have exchanged Status yet.
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
      // Ignored until the peer has returned the header of its head.
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
