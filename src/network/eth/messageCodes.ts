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
export const CODES = {
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
} as const;

/** Besu's names, by code (metrics.md#peers-and-network). */
export const MESSAGE_NAMES: readonly (string | undefined)[] = Object.entries(CODES).reduce<
  (string | undefined)[]
>((names, [kind, code]) => {
  names[code] = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
  return names;
}, []);

export type MessageKind = keyof typeof CODES;

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

export interface WithRequestId {
  /** Chosen by the requester, and repeated in the response. */
  readonly requestId: bigint;
}

export type EthMessage =
  | { readonly kind: "status"; readonly status: Status }
  | { readonly kind: "newBlockHashes"; readonly blocks: readonly BlockAnnouncement[] }
  | { readonly kind: "transactions"; readonly transactions: readonly Transaction[] }
  | (WithRequestId & { readonly kind: "getBlockHeaders"; readonly query: HeaderQuery })
  | (WithRequestId & { readonly kind: "blockHeaders"; readonly headers: readonly Header[] })
  | (WithRequestId & {
      readonly kind: "getBlockBodies" | "getPooledTransactions" | "getReceipts";
      readonly hashes: readonly Hash[];
    })
  | (WithRequestId & { readonly kind: "blockBodies"; readonly bodies: readonly Body[] })
  | { readonly kind: "newBlock"; readonly block: Block; readonly totalDifficulty: bigint }
  | {
      readonly kind: "newPooledTransactionHashes";
      readonly announcements: readonly TransactionAnnouncement[];
    }
  | (WithRequestId & { readonly kind: "pooledTransactions"; readonly transactions: readonly Transaction[] })
  | (WithRequestId & { readonly kind: "receipts"; readonly receipts: readonly (readonly BareReceipt[])[] });
