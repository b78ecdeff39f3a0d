import type { Address } from "../../primitives/address.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { Hash } from "../../primitives/hash.ts";
import { toDigits } from "../../primitives/hex.ts";
import { KnownHashes } from "../../primitives/knownHashes.ts";
import { larger, smaller } from "../../primitives/quantity.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { Body } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import { maxTransactionsAfter } from "../../types/transactionCount.ts";
import type { DisconnectReason } from "../rlpx/disconnectReason.ts";
import type { Session } from "../subProtocol.ts";
import type { InputRefusal } from "../traffic.ts";
import { encodeHeaderQuery } from "./headerQuery.ts";
import { MAX_CLAIMED_LEAD, MAX_KNOWN_BLOCKS, MAX_KNOWN_TRANSACTIONS } from "./limits.ts";
import type { AnnouncedTransaction, HeaderQuery, Status } from "./messages.ts";
import {
  type DeliveredTransaction,
  readBodiesInSlices,
  readHeaders,
  readTransactionsInSlices,
} from "./payloadReaders.ts";
import { PeerConnections } from "./peerConnections.ts";
import type { EthChain } from "./ports.ts";
import { type RequestErrorCode, Requests, type ResponseKind } from "./requests.ts";
import { TransactionScore } from "./transactionScore.ts";
import { encodeHashes } from "./wireWriter.ts";

type ResponseErrorCode = RequestErrorCode | "badAnswer";

export interface PeerParts {
  readonly clock: Clock;
  /** The local chain, whose head bounds the transactions of a requested body. */
  readonly chain: Pick<EthChain, "head">;
  readonly onRefused?: ((reason: InputRefusal, count: number) => void) | undefined;
}

/** A peer of the eth protocol, by node id, over one connection or two. */
export class Peer {
  readonly nodeId: Uint8Array;
  /** The node id in hexadecimal digits. */
  readonly key: string;
  /** Address of the node key; the validator's address, if it is a validator. */
  readonly address: Address;
  /** Its Status; undefined before it arrived. */
  status: Status | undefined;
  /**
   * Its best known block: from its Status, later the parent of a block that it announced, or a block that it named
   * (p2p.md#block-propagation).
   */
  best: { readonly hash: Hash; readonly totalDifficulty: bigint } | undefined;
  /** Highest block that it should have; undefined until this node has, or got, the header of its head. */
  height: bigint | undefined;
  readonly connections = new PeerConnections();
  readonly requests: Requests;
  readonly knownBlocks = new KnownHashes(MAX_KNOWN_BLOCKS);
  readonly knownTransactions = new KnownHashes(MAX_KNOWN_TRANSACTIONS);
  /** Blocks sent to it, in full or by hash. */
  readonly sentBlocks = new KnownHashes(MAX_KNOWN_BLOCKS);
  /** Transactions announced by the peer and not requested yet, by hash. */
  readonly announced = new Map<string, AnnouncedTransaction>();
  readonly transactionScore: TransactionScore;
  private readonly chain: PeerParts["chain"];
  private readonly onRefused: PeerParts["onRefused"];

  constructor({ nodeId, address }: Pick<Session, "nodeId" | "address">, parts: PeerParts) {
    this.nodeId = nodeId;
    this.key = toDigits(nodeId);
    this.address = address;
    this.chain = parts.chain;
    this.onRefused = parts.onRefused;
    this.transactionScore = new TransactionScore(parts.clock);
    this.requests = new Requests({
      clock: parts.clock,
      send: (code, payload) => this.send(code, payload),
      receivedBytes: () => this.connections.receivedBytes,
      onTimeout: (isRepeated) => {
        this.noteRefused("noResponse");
        if (isRepeated) this.disconnect("timeout", "it does not respond to requests");
        else this.penalise();
      },
    });
  }

  /** The negotiated version of eth, over the connection that `send` uses. */
  get version(): number {
    return this.connections.version;
  }

  /** True when the operator configured it as a peer. */
  get isMaintained(): boolean {
    return this.connections.isMaintained;
  }

  get isTrusted(): boolean {
    return this.connections.isTrusted;
  }

  /** Requests headers. An error means no valid response; a malformed response has already ended the connection. */
  requestHeaders(query: HeaderQuery): Promise<Result<readonly Header[], ResponseErrorCode>> {
    return this.request("blockHeaders", encodeHeaderQuery(query), (list) =>
      readHeaders(list, Math.max(1, query.max)),
    );
  }

  /** Requests bodies of at most `maxTransactions` each; as many as the head's gas limit permits when absent. */
  requestBodies(
    hashes: readonly Hash[],
    maxTransactions = maxTransactionsAfter(this.chain.head.header),
  ): Promise<Result<readonly Body[], ResponseErrorCode>> {
    return this.request("blockBodies", encodeHashes(hashes), (list) =>
      readBodiesInSlices(list, { limit: hashes.length, most: maxTransactions }),
    );
  }

  requestTransactions(
    hashes: readonly Hash[],
  ): Promise<Result<readonly DeliveredTransaction[], ResponseErrorCode>> {
    return this.request("pooledTransactions", encodeHashes(hashes), (list) =>
      readTransactionsInSlices(list, hashes.length),
    );
  }

  /** Sends over the lasting connection; false when there is none. */
  send(code: number, payload: Uint8Array): boolean {
    return this.connections.send(code, payload);
  }

  /** Does work that the peer's input caused, within the peer's time budget. */
  inShare(work: () => void): void {
    this.connections.inShare(work);
  }

  spend(durationMs: number): void {
    this.connections.spend(durationMs);
  }

  reward(): void {
    this.connections.reward();
  }

  penalise(): void {
    this.connections.penalise();
  }

  /** Counts refused input of the peer, once unless `count` is given. */
  noteRefused(reason: InputRefusal, count = 1): void {
    this.onRefused?.(reason, count);
  }

  disconnect(reason: DisconnectReason, detail: string): void {
    this.connections.disconnect(reason, detail);
  }

  /** Raises the height by an unproven claim, bounded above `head`, the local head. */
  raiseHeight(number: bigint, head: bigint): void {
    // Ignored until the peer has returned the header of its head.
    if (this.height === undefined || number <= this.height) return;
    this.height = smaller(number, larger(head + MAX_CLAIMED_LEAD, this.height + 1n));
  }

  /** Records a block that it has; a lower total difficulty than its best is ignored. */
  raiseBest({ hash, totalDifficulty }: NonNullable<Peer["best"]>): void {
    if (this.best === undefined || totalDifficulty >= this.best.totalDifficulty)
      this.best = { hash, totalDifficulty };
  }

  /**
   * Sends a request and decodes the response with `read`, which throws RangeError; a malformed one is a breach of
   * protocol.
   */
  private async request<T>(
    kind: ResponseKind,
    body: Uint8Array,
    read: (list: Uint8Array) => readonly T[] | Promise<readonly T[]>,
  ): Promise<Result<readonly T[], ResponseErrorCode>> {
    const response = await this.requests.send(kind, body);
    if (!response.ok) return response;
    try {
      const items = await read(response.value);
      // An empty list of transactions is normal: they may have been mined in the meantime.
      if (items.length > 0) this.reward();
      else if (kind !== "pooledTransactions") this.penalise();
      return ok(items);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.noteRefused("malformed");
      this.disconnect("breachOfProtocol", `${kind}: ${error.message}`);
      return fail("peer", "badAnswer", error.message);
    }
  }
}
