import type { ForkIds } from "../../chainspec/forkId.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Block, NamedBlock, NamedHeader } from "../../types/block.ts";
import type { BareReceipt } from "../../types/receipt.ts";
import type { Transaction } from "../../types/transaction.ts";

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
  /** False while the node is not in sync: transactions are neither taken nor asked for (p2p.md §10). */
  readonly isOpen: boolean;
  get(hash: Hash): Transaction | undefined;
  transactions(): Iterable<Transaction>;
  /** Takes them when it likes, and bounds what waits; nobody is blamed for what it refuses. */
  offer(transactions: readonly Transaction[]): void;
}

/** A block that a peer says is new; nothing of it was judged but its place near the head. */
export interface AnnouncedBlock {
  readonly block: Block;
  readonly hash: Hash;
  /** Key (toKey) of the peer's node id. */
  readonly peer: string;
}

/** Who we are to peers. */
export interface EthIdentity {
  readonly networkId: bigint;
  readonly forkIds: ForkIds;
}
