import { assertNever } from "../../primitives/assert.ts";
import type { Hash } from "../../primitives/hash.ts";
import { encodeRlpList } from "../../primitives/rlp.ts";
import { encodeBody, type NamedHeader } from "../../types/block.ts";
import { encodeHeader } from "../../types/header.ts";
import { encodeBodyTransaction } from "../../types/transaction.ts";
import type { Session } from "../subProtocol.ts";
import {
  MAX_SERVED_BODIES,
  MAX_SERVED_HEADERS,
  MAX_SERVED_RECEIPTS,
  MAX_SERVED_TRANSACTIONS,
  SERVED_BYTES,
} from "./limits.ts";
import { CODES, type HeaderQuery, type MessageOf } from "./messages.ts";
import type { PeerRecord } from "./peer.ts";
import type { EthChain, EthPool } from "./ports.ts";
import { createRequestQueue } from "./requestQueue.ts";
import { encodeReceipts, withRequestId } from "./wireWriter.ts";

/** The kinds of messages that are requests to this node. */
export type RequestKind =
  | "getBlockHeaders"
  | "getBlockBodies"
  | "getPooledTransactions"
  | "getNodeData"
  | "getReceipts";
export type EthRequest = MessageOf<RequestKind>;

/** What is served to peers. */
export interface ServedParts {
  readonly chain: EthChain;
  readonly pool: EthPool;
}

/** Serves peers' requests in turn (requestQueue.ts). */
export interface RequestServer {
  receive(peer: PeerRecord, session: Session, request: EthRequest): void;
  /** The peer is gone. */
  forget(peer: PeerRecord): void;
}

export function createRequestServer(parts: ServedParts): RequestServer {
  const queue = createRequestQueue<PeerRecord>();

  return {
    receive(peer, session, request) {
      const isTaken = queue.enqueue(peer, () => {
        const { code, payload } = respondTo(request, parts);
        // The requesting connection may be the one of two that ended.
        if (!session.send(code, payload)) peer.send(code, payload);
      });
      if (isTaken) return;
      peer.noteRefused("tooManyRequests");
      session.disconnect("uselessPeer", "too many queued requests");
    },
    forget: (peer) => queue.forget(peer),
  };
}

/**
 * The response to a peer's request, with the items that this node has (p2p.md#requests-and-limits): every request gets
 * exactly one.
 */
export function respondTo(
  request: EthRequest,
  { chain, pool }: ServedParts,
): { readonly code: number; readonly payload: Uint8Array } {
  const response = (code: number, items: Iterable<Uint8Array>): { code: number; payload: Uint8Array } => ({
    code,
    payload: withRequestId(request.requestId, encodeRlpList(upToSize(items))),
  });
  const blockByHash = (hash: Hash): ReturnType<EthChain["blockByHash"]> => chain.blockByHash(hash);
  switch (request.kind) {
    case "getBlockHeaders":
      return response(CODES.blockHeaders, encoded(headersFor(request.query, chain), encodeNamed));
    case "getBlockBodies":
      return response(
        CODES.blockBodies,
        found(request.hashes.slice(0, MAX_SERVED_BODIES), blockByHash, encodeBody),
      );
    case "getReceipts":
      return response(
        CODES.receipts,
        found(request.hashes.slice(0, MAX_SERVED_RECEIPTS), blockByHash, ({ receipts }) =>
          encodeReceipts(receipts),
        ),
      );
    case "getNodeData":
      // State nodes are not stored by their hashes; a node that syncs fast finds them elsewhere.
      return response(CODES.nodeData, []);
    case "getPooledTransactions":
      return response(
        CODES.pooledTransactions,
        found(
          request.hashes.slice(0, MAX_SERVED_TRANSACTIONS),
          (hash) => pool.get(hash),
          encodeBodyTransaction,
        ),
      );
    default:
      return assertNever(request);
  }
}

/**
 * From the start on, every `skip + 1` blocks, up to the first missing one; a request for zero headers gets one, as Besu
 * does.
 */
function* headersFor({ start, max, skip, isReverse }: HeaderQuery, chain: EthChain): Generator<NamedHeader> {
  const stride = BigInt(skip) + 1n;
  let header = "hash" in start ? chain.headerByHash(start.hash) : chain.headerByNumber(start.number);
  for (let left = Math.max(1, Math.min(max, MAX_SERVED_HEADERS)); header !== undefined; ) {
    yield header;
    const next: bigint = isReverse ? header.header.number - stride : header.header.number + stride;
    if (--left === 0 || next < 0n) return;
    header = chain.headerByNumber(next);
  }
}

function encodeNamed({ header }: NamedHeader): Uint8Array {
  return encodeHeader(header);
}

/** In the requested order, without unknown items. */
function* found<T>(
  hashes: readonly Hash[],
  find: (hash: Hash) => T | undefined,
  encode: (item: T) => Uint8Array,
): Generator<Uint8Array> {
  for (const hash of hashes) {
    const item = find(hash);
    if (item !== undefined) yield encode(item);
  }
}

function* encoded<T>(items: Iterable<T>, encode: (item: T) => Uint8Array): Generator<Uint8Array> {
  for (const item of items) yield encode(item);
}

function upToSize(items: Iterable<Uint8Array>): Uint8Array[] {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  for (const item of items) {
    taken.push(item);
    bytes += item.length;
    if (bytes >= SERVED_BYTES) break;
  }
  return taken;
}
