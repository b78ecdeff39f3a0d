import type { ForkIds } from "../../chainspec/forkId.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Result } from "../../primitives/result.ts";
import type { Block, NamedBlock, NamedHeader } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { BareReceipt } from "../../types/receipt.ts";
import type { Transaction } from "../../types/transaction.ts";
import type { ValidationCounts } from "./transactionScore.ts";

/** The chain that peers ask about; reads are synchronous, and what is unknown is undefined. */
export interface EthChain {
  readonly genesis: NamedHeader;
  readonly head: NamedHeader;
  headerByNumber(number: bigint): NamedHeader | undefined;
  headerByHash(hash: Hash): NamedHeader | undefined;
  blockByHash(hash: Hash): (NamedBlock & { readonly receipts: readonly BareReceipt[] }) | undefined;
}

/** The pool that peers fill and draw from. */
export interface EthPool {
  /**
   * False while the node is not in sync: transactions are neither taken nor asked for
   * (p2p.md#transaction-gossip).
   */
  readonly isOpen: boolean;
  get(hash: Hash): Transaction | undefined;
  transactions(): Iterable<Transaction>;
  /**
   * Finds their senders and judges them, in order; bounds what waits. `isAhead` where the peer may know a newer state than
   * ours: what our state alone speaks against says little then.
   */
  offer(
    transactions: readonly Transaction[],
    peer: { readonly isAhead: boolean },
  ): ValidationCounts | Promise<ValidationCounts>;
}

/** A block that a peer says is new; nothing of it was judged but its place near the head, and its body is unread. */
export interface AnnouncedBlock {
  readonly header: Header;
  readonly hash: Hash;
  /** Of the message, which is kept as it came. */
  readonly bytes: number;
  /** Its body may take as long as somebody likes to read: the header must be judged before. */
  readonly isLong: boolean;
  /** Reads the body. */
  open(): Result<Block, BlockErrorCode>;
  /** The peer's node id in hexadecimal digits. */
  readonly peer: string;
}

/** `malformed` is a breach of protocol; a body of another block may have been passed on in good faith. */
export type BlockErrorCode = "malformed" | "foreignBody";

/** Who we are to peers. */
export interface EthIdentity {
  readonly networkId: bigint;
  readonly forkIds: ForkIds;
}
