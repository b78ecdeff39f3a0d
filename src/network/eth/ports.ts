import type { ForkIds } from "../../chainspec/forkId.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Result } from "../../primitives/result.ts";
import type { Steps } from "../../primitives/steps.ts";
import type { PeerCounts } from "../../txpool/peerValidation.ts";
import type { Block, NamedBlock, NamedHeader } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { BareReceipt } from "../../types/receipt.ts";
import type { Transaction } from "../../types/transaction.ts";

/** The chain served to peers; reads are synchronous, and unknown items are undefined. */
export interface EthChain {
  readonly genesis: NamedHeader;
  readonly head: NamedHeader;
  headerByNumber(number: bigint): NamedHeader | undefined;
  headerByHash(hash: Hash): NamedHeader | undefined;
  /** The RLP of the header with that number. */
  encodedHeader(number: bigint): Uint8Array | undefined;
  blockByHash(hash: Hash): ServedBlock | undefined;
}

/**
 * A block with its receipts; parts that are not in memory are read in steps, which fail when the block is removed meanwhile.
 */
export interface ServedBlock extends NamedBlock {
  readonly receipts: readonly BareReceipt[];
  bodyInSteps?(): Steps<Uint8Array>;
  receiptsInSteps?(): Steps<readonly BareReceipt[]>;
}

/** The transaction pool as peers use it. */
export interface EthPool {
  /**
   * False while the node is not in sync: transactions are neither accepted nor requested (p2p.md#transaction-gossip).
   */
  readonly isOpen: boolean;
  /** True while the full pool accepts nothing more: announced transactions wait, and are not requested. */
  readonly isSaturated: boolean;
  get(hash: Hash): Transaction | undefined;
  transactions(): Iterable<Transaction>;
  /**
   * Recovers the senders and validates the transactions, in order; bounds those that wait. With `isAhead` the peer may know
   * a newer state than this node, so rejections that depend on the state weigh less.
   */
  offer(
    transactions: readonly Transaction[],
    peer: { readonly isAhead: boolean },
  ): PeerCounts | Promise<PeerCounts>;
}

/** A block announced by a peer; only its distance from the head was checked, and its body is undecoded. */
export interface AnnouncedBlock {
  readonly header: Header;
  readonly hash: Hash;
  /** Length of the message, which is kept undecoded. */
  readonly bytes: number;
  /** Decodes the body. A peer can make that arbitrarily slow, so the header must be validated before. */
  open(): Result<Block, AnnouncedBlockErrorCode>;
  /** The peer's node id in hexadecimal digits. */
  readonly peer: string;
}

/** `malformed` is a breach of protocol; a peer may have relayed a foreign body in good faith. */
export type AnnouncedBlockErrorCode = "malformed" | "foreignBody";

/** This node's identity in Status messages. */
export interface EthIdentity {
  readonly networkId: bigint;
  readonly forkIds: ForkIds;
}
