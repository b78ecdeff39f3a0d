import type { ForkId } from "../../chainspec/forkId.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Block, Body } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { BareReceipt } from "../../types/receipt.ts";
import type { Transaction } from "../../types/transaction.ts";

/** The supported version of the eth protocol, and its number of message ids (p2p.md#hello-and-capabilities). */
export const ETH_VERSION = 68;
export const ETH_MESSAGE_CODES = 17;

/** Codes of eth/68; the codes missing in between are no longer messages (p2p.md#eth-messages). */
export const CODES: Readonly<Record<MessageKind, number>> = {
  status: 0x00,
  newBlockHashes: 0x01,
  transactions: 0x02,
  getBlockHeaders: 0x03,
  blockHeaders: 0x04,
  getBlockBodies: 0x05,
  blockBodies: 0x06,
  newBlock: 0x07,
  newPooledTransactionHashes: 0x08,
  getPooledTransactions: 0x09,
  pooledTransactions: 0x0a,
  getReceipts: 0x0f,
  receipts: 0x10,
};

/** Besu's names, by code (metrics.md#peers-and-network). */
export const MESSAGE_NAMES: readonly (string | undefined)[] = Object.entries(CODES).reduce<
  (string | undefined)[]
>((names, [kind, code]) => {
  names[code] = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
  return names;
}, []);

const KINDS: ReadonlyMap<number, MessageKind> = new Map(
  Object.entries(CODES).map(([kind, code]) => [code, kind as MessageKind]),
);

export function kindOfCode(code: number): MessageKind | undefined {
  return KINDS.get(code);
}

/** The handshake message of eth (p2p.md#status-and-fork-id). */
export interface Status {
  readonly protocolVersion: number;
  readonly networkId: bigint;
  readonly totalDifficulty: bigint;
  readonly headHash: Hash;
  readonly genesisHash: Hash;
  readonly forkId: ForkId;
}

export interface HeaderQuery {
  readonly start: { readonly hash: Hash } | { readonly number: bigint };
  readonly max: number;
  /** Blocks skipped between two headers. */
  readonly skip: number;
  /** Towards genesis. */
  readonly isReverse: boolean;
}

export interface BlockAnnouncement {
  readonly hash: Hash;
  readonly number: bigint;
}

export interface TransactionAnnouncement {
  readonly type: number;
  /** Bytes of the encoding that is hashed. */
  readonly size: number;
  readonly hash: Hash;
}

interface WithRequestId {
  /** Chosen by the requester, and repeated in the response. */
  readonly requestId: bigint;
}

/**
 * What each message says. For a new one, add it here; the compiler then asks for its entries in CODES, in
 * MESSAGE_FORMATS (messageFormats.ts) and in the handlers (messageHandlers.ts).
 */
interface MessageContents {
  readonly status: { readonly status: Status };
  readonly newBlockHashes: { readonly blocks: readonly BlockAnnouncement[] };
  readonly transactions: { readonly transactions: readonly Transaction[] };
  readonly getBlockHeaders: WithRequestId & { readonly query: HeaderQuery };
  readonly blockHeaders: WithRequestId & { readonly headers: readonly Header[] };
  readonly getBlockBodies: WithRequestId & { readonly hashes: readonly Hash[] };
  readonly blockBodies: WithRequestId & { readonly bodies: readonly Body[] };
  readonly newBlock: { readonly block: Block; readonly totalDifficulty: bigint };
  readonly newPooledTransactionHashes: { readonly announcements: readonly TransactionAnnouncement[] };
  readonly getPooledTransactions: WithRequestId & { readonly hashes: readonly Hash[] };
  readonly pooledTransactions: WithRequestId & { readonly transactions: readonly Transaction[] };
  readonly getReceipts: WithRequestId & { readonly hashes: readonly Hash[] };
  readonly receipts: WithRequestId & { readonly receipts: readonly (readonly BareReceipt[])[] };
}

export type MessageKind = keyof MessageContents;

export type MessageOf<Kind extends MessageKind> = {
  [K in Kind]: { readonly kind: K } & MessageContents[K];
}[Kind];

export type EthMessage = MessageOf<MessageKind>;
