import type { ForkId } from "../../chainspec/forkId.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Block, Body } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { BareReceipt } from "../../types/receipt.ts";
import type { Transaction } from "../../types/transaction.ts";

/** The supported versions of the eth protocol, and the number of message ids of each (p2p.md#hello-and-capabilities). */
export const ETH_VERSIONS = [66, 67, 68] as const;
export const LATEST_ETH_VERSION = 68;
export const ETH_MESSAGE_CODES = 17;
/** The first version that announces transactions with type and size; earlier ones announce only hashes. */
export const DETAILED_ANNOUNCEMENTS_VERSION = 68;

export type EthVersion = (typeof ETH_VERSIONS)[number];

/** Codes of all versions; kindsOf returns those of one version (p2p.md#eth-messages). */
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
  bareTransactionHashes: 0x08,
  getPooledTransactions: 0x09,
  pooledTransactions: 0x0a,
  getNodeData: 0x0d,
  nodeData: 0x0e,
  getReceipts: 0x0f,
  receipts: 0x10,
};

/** The versions of messages that not every version has. */
const VERSIONS_OF: { readonly [Kind in MessageKind]?: readonly EthVersion[] } = {
  newPooledTransactionHashes: [68],
  bareTransactionHashes: [66, 67],
  getNodeData: [66],
  nodeData: [66],
};

/** The kinds of a version's messages, by code; the codes missing in between are no messages of it. */
export function kindsOf(version: EthVersion): readonly (MessageKind | undefined)[] {
  const kinds: (MessageKind | undefined)[] = [];
  for (const [name, code] of Object.entries(CODES)) {
    const kind = name as MessageKind;
    if (VERSIONS_OF[kind]?.includes(version) !== false) kinds[code] = kind;
  }
  return kinds;
}

/** Besu's names of a version's messages, by code (metrics.md#peers-and-network). */
export function messageNamesOf(version: EthVersion): readonly (string | undefined)[] {
  return kindsOf(version).map((kind) => kind && nameOf(kind));
}

function nameOf(kind: MessageKind): string {
  if (kind === "bareTransactionHashes") return nameOf("newPooledTransactionHashes");
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
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
  /** True for descending numbers, towards genesis. */
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

/** A transaction as it was announced: before eth/68 only its hash. */
export type AnnouncedTransaction = Pick<TransactionAnnouncement, "hash"> & Partial<TransactionAnnouncement>;

interface WithRequestId {
  /** Chosen by the requester, and repeated in the response. */
  readonly requestId: bigint;
}

/**
 * The contents of each message. Add a new one here; the compiler then requires its entries in CODES, in MESSAGE_FORMATS
 * (messageFormats.ts) and in the handlers (messageHandlers.ts). A kind that not every version has also needs an entry in
 * VERSIONS_OF.
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
  /** The NewPooledTransactionHashes of eth/66 and eth/67. */
  readonly bareTransactionHashes: { readonly hashes: readonly Hash[] };
  readonly getPooledTransactions: WithRequestId & { readonly hashes: readonly Hash[] };
  readonly pooledTransactions: WithRequestId & { readonly transactions: readonly Transaction[] };
  readonly getNodeData: WithRequestId & { readonly hashes: readonly Hash[] };
  /** State trie nodes and code; this node serves and requests none. */
  readonly nodeData: WithRequestId & { readonly nodes: readonly Uint8Array[] };
  readonly getReceipts: WithRequestId & { readonly hashes: readonly Hash[] };
  readonly receipts: WithRequestId & { readonly receipts: readonly (readonly BareReceipt[])[] };
}

export type MessageKind = keyof MessageContents;

export type MessageOf<Kind extends MessageKind> = {
  [K in Kind]: { readonly kind: K } & MessageContents[K];
}[Kind];

export type EthMessage = MessageOf<MessageKind>;
