import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { StateReader } from "../state/stateReader.ts";
import type { HistoryStart } from "../storage/historyStart.ts";
import type { NamedHeader, StoredBlock } from "../types/block.ts";
import type { Log } from "../types/log.ts";
import type { Receipt } from "../types/receipt.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { HeadChange, HeadListener } from "./onNewHead.ts";

/** The chain as others read it. All reads are synchronous and return undefined for what is not stored. */
export interface ChainReader {
  readonly genesis: NamedHeader;
  readonly head: NamedHeader;
  /**
   * Where headers, whole blocks, and states begin: 0 unless the chain was imported from a snapshot, or old blocks or states are
   * removed. It moves on while the node runs.
   */
  readonly historyStart: HistoryStart;
  headerByNumber(number: bigint): NamedHeader | undefined;
  headerByHash(hash: Hash): NamedHeader | undefined;
  blockByNumber(number: bigint): StoredBlock | undefined;
  blockByHash(hash: Hash): StoredBlock | undefined;
  transactionByHash(hash: Hash): LocatedTransaction | undefined;
  /** Validator set that seals block `number` (the set after its parent), sorted. */
  validatorsFor(number: bigint): readonly Address[] | undefined;
  /** State after block `number`: the head's from the flat column, older ones from the trie. */
  stateAt(number: bigint): StateReader | undefined;
  /**
   * Calls `listener` after each durable move of the head, in its row's turn (onNewHead.ts). Returns a function that
   * unsubscribes.
   */
  onHeadChanged(row: HeadListener, listener: (change: HeadChange) => void): () => void;
}

export interface LocatedTransaction {
  readonly transaction: SentTransaction;
  readonly block: StoredBlock;
  readonly index: number;
  readonly receipt: Receipt;
  /** Number of logs of earlier transactions of the block. */
  readonly firstLogIndex: number;
}

/** A log with its position on the chain; `logIndex` counts within the block. */
export interface LocatedLog {
  readonly log: Log;
  readonly blockNumber: bigint;
  readonly blockHash: Hash;
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly removed: boolean;
}
