import { assertNever } from "../../primitives/assert.ts";
import type { Hash } from "../../primitives/hash.ts";
import { encodeRlpListInSteps } from "../../primitives/rlpInSteps.ts";
import type { Steps } from "../../primitives/steps.ts";
import { encodeRawBodyInSteps } from "../../types/block.ts";
import { encodeBodyTransaction } from "../../types/transaction.ts";
import { compressSnappyInSteps } from "../rlpx/snappy.ts";
import type { Session } from "../subProtocol.ts";
import {
  MAX_SERVED_BODIES,
  MAX_SERVED_HEADERS,
  MAX_SERVED_RECEIPTS,
  MAX_SERVED_TRANSACTIONS,
  MOST_SERVED_BYTES,
  SERVED_BYTES,
  STEP_ITEMS,
} from "./limits.ts";
import { CODES, type HeaderQuery, type MessageOf } from "./messages.ts";
import type { Peer } from "./peer.ts";
import type { EthChain, EthPool, ServedBlock } from "./ports.ts";
import { RequestQueue } from "./requestQueue.ts";
import { encodeReceiptsInSteps, leastBytesOfReceiptsInSteps, withRequestIdInSteps } from "./wireWriter.ts";

/** The kinds of messages that are requests to this node. */
export type RequestKind =
  | "getBlockHeaders"
  | "getBlockBodies"
  | "getPooledTransactions"
  | "getNodeData"
  | "getReceipts";
export type EthRequest = MessageOf<RequestKind>;

/** Sources of the data served to peers. */
export interface ServedParts {
  readonly chain: EthChain;
  readonly pool: EthPool;
}

/** Serves peers' requests in turn (requestQueue.ts). */
export class RequestServer {
  private readonly parts: ServedParts;
  private readonly queue = new RequestQueue<Peer>((peer, work) => peer.inShare(work));

  constructor(parts: ServedParts) {
    this.parts = parts;
  }

  receive(peer: Peer, session: Session, request: EthRequest): void {
    if (this.queue.enqueue(peer, this.serve(peer, session, request))) return;
    peer.noteRefused("tooManyRequests");
    session.disconnect("uselessPeer", "too many queued requests");
  }

  /** Drops the requests of a peer that is gone. */
  forget(peer: Peer): void {
    this.queue.forget(peer);
  }

  private *serve(peer: Peer, session: Session, request: EthRequest): Steps<void> {
    const { code, payload } = yield* respondTo(request, this.parts);
    yield* compressSnappyInSteps(payload);
    // The requesting connection may have ended, while the other one is open.
    if (!session.send(code, payload)) peer.send(code, payload);
  }
}

interface Response {
  readonly code: number;
  readonly payload: Uint8Array;
}

/**
 * The response to a peer's request, with the items that this node has (p2p.md#requests-and-limits): every request gets
 * exactly one.
 */
export function* respondTo(request: EthRequest, { chain, pool }: ServedParts): Steps<Response> {
  switch (request.kind) {
    case "getBlockHeaders":
      return yield* respond(request, CODES.blockHeaders, encodedHeaders(request.query, chain));
    case "getBlockBodies":
      return yield* respond(request, CODES.blockBodies, bodies(request.hashes, chain));
    case "getReceipts":
      return yield* respond(request, CODES.receipts, receiptLists(request.hashes, chain));
    case "getNodeData":
      // State nodes are not stored by their hashes; a node that syncs fast finds them elsewhere.
      return yield* respond(request, CODES.nodeData, []);
    case "getPooledTransactions":
      return yield* respond(request, CODES.pooledTransactions, pooled(request.hashes, pool));
    default:
      return assertNever(request);
  }
}

/** Items that are available at once, or are read in steps; undefined for items that this node does not have. */
type Items = Iterable<Uint8Array | undefined | Steps<Uint8Array | undefined>>;

/**
 * Collects items up to the size of a response. An item that would make it longer than a peer accepts ends it, or is left out
 * if it is the first: no peer can get it.
 */
function* respond({ requestId }: EthRequest, code: number, items: Items): Steps<Response> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  let count = 0;
  for (const item of items) {
    const isReady = item === undefined || item instanceof Uint8Array;
    const part = isReady ? item : yield* item;
    if (!isReady || ++count % STEP_ITEMS === 0) yield;
    if (part === undefined) continue;
    if (bytes + part.length > MOST_SERVED_BYTES) {
      if (taken.length > 0) break;
      continue;
    }
    taken.push(part);
    bytes += part.length;
    if (bytes >= SERVED_BYTES) break;
  }
  return { code, payload: yield* withRequestIdInSteps(requestId, yield* encodeRlpListInSteps(taken)) };
}

/**
 * Headers from the start on, every `skip + 1` blocks, up to the first missing one; a request for zero headers gets one, as
 * in Besu.
 */
function* encodedHeaders(
  { start, max, skip, isReverse }: HeaderQuery,
  chain: EthChain,
): Generator<Uint8Array> {
  const stride = BigInt(skip) + 1n;
  const first = "hash" in start ? chain.headerByHash(start.hash)?.header.number : start.number;
  if (first === undefined) return;
  const count = Math.max(1, Math.min(max, MAX_SERVED_HEADERS));
  for (let number = first, left = count; number >= 0n && left > 0; left--) {
    const header = chain.encodedHeader(number);
    if (header === undefined) return;
    yield header;
    number += isReverse ? -stride : stride;
  }
}

function* bodies(hashes: readonly Hash[], chain: EthChain): Generator<Steps<Uint8Array | undefined>> {
  for (const hash of hashes.slice(0, MAX_SERVED_BODIES))
    yield whileStored(hash, chain, function* (block) {
      if (block.bodyInSteps !== undefined) return yield* block.bodyInSteps();
      const raws = block.transactions.map(({ raw }) => raw);
      return yield* encodeRawBodyInSteps(raws, block);
    });
}

function* receiptLists(hashes: readonly Hash[], chain: EthChain): Generator<Steps<Uint8Array | undefined>> {
  for (const hash of hashes.slice(0, MAX_SERVED_RECEIPTS))
    yield whileStored(hash, chain, function* (block) {
      const receipts = block.receiptsInSteps === undefined ? block.receipts : yield* block.receiptsInSteps();
      const isTooLong = (yield* leastBytesOfReceiptsInSteps(receipts)) > MOST_SERVED_BYTES;
      return isTooLong ? undefined : yield* encodeReceiptsInSteps(receipts);
    });
}

function* pooled(hashes: readonly Hash[], pool: EthPool): Generator<Uint8Array | undefined> {
  for (const hash of hashes.slice(0, MAX_SERVED_TRANSACTIONS)) {
    const transaction = pool.get(hash);
    yield transaction && encodeBodyTransaction(transaction);
  }
}

/** The result of `read` for a block; also undefined when the block is not stored, or is removed between two steps. */
function* whileStored(
  hash: Hash,
  chain: EthChain,
  read: (block: ServedBlock) => Steps<Uint8Array | undefined>,
): Steps<Uint8Array | undefined> {
  const block = chain.blockByHash(hash);
  if (block === undefined) return undefined;
  const steps = read(block);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    yield;
    if (chain.blockByHash(hash) === undefined) return undefined;
  }
}
