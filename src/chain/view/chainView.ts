import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import type { Logger } from "../../observability/logger.ts";
import type { Address } from "../../primitives/address.ts";
import { assert, expectDefined } from "../../primitives/assert.ts";
import type { Hash } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";
import type { AccountProof } from "../../state/proof.ts";
import type { StateReader } from "../../state/stateReader.ts";
import { WorldState } from "../../state/worldState.ts";
import { BlockStore } from "../../storage/blocks/blockStore.ts";
import { readHeader } from "../../storage/blocks/headerStore.ts";
import { type HeadPointer, readHead } from "../../storage/commitRecord.ts";
import type { DatabaseOnDisk, DatabaseSnapshot } from "../../storage/database.ts";
import type { HistoryStart } from "../../storage/historyStart.ts";
import type { NamedHeader, StoredBlock } from "../../types/block.ts";
import type { ChainReader, LocatedTransaction } from "../chainReader.ts";
import { type ChainReads, createChainReads } from "../chainReads.ts";
import { type HeadChange, type HeadListener, HeadListeners } from "../onNewHead.ts";
import { ValidatorSets } from "../validators.ts";
import { VIEW_LIMITS, type ViewLimits } from "./limits.ts";
import { MovingReads } from "./movingReads.ts";
import type { ShownHead } from "./shownHead.ts";

interface ChainViewParts {
  /** Opened by this thread; closed by the caller. */
  readonly database: Pick<DatabaseOnDisk, "snapshot">;
  readonly spec: Pick<ChainSpec, "ibft">;
  readonly shownHead: ShownHead;
  readonly logger: Logger;
  /** Sizes of the caches; VIEW_LIMITS unless given. */
  readonly limits?: ViewLimits;
  /** Called with true when the first listener comes for which heads must not wait until a caller asks, with false when none is left. */
  readonly onAwaited?: (isAwaited: boolean) => void;
}

/** Listeners of callers who wait. The others bring up to date what the next answer is made from. */
const AWAITING: ReadonlySet<HeadListener> = new Set(["inclusionWaits", "subscriptions"]);

/**
 * The chain as seen by a thread that does not write it: a snapshot of the database, whose own head pointer identifies its
 * head.
 *
 *   main thread   batch durable ──> shown head ──> listeners, answers
 *   this thread   request ──> the shown head has moved? ──> new snapshot, its head is the shown one ──> answer
 *
 * Invariants: no thread shows a head that the main thread has not shown, nor an older one than any thread has shown before
 * the request came · all reads between two refreshes belong to one head · the caches of states and heads match the snapshot.
 */
export class ChainView implements ChainReader {
  private readonly parts: ChainViewParts;
  private readonly listeners: HeadListeners;
  private snapshot: DatabaseSnapshot | undefined;
  private stores: ViewStores | undefined;
  /** Sequence number of the shown head that the snapshot belongs to; 0 before the first. */
  private sequence = 0;
  /** Listeners of callers who wait. */
  private awaiting = 0;

  /** Opens a view, which has no head before the first refresh. */
  constructor(parts: ChainViewParts) {
    this.parts = parts;
    this.listeners = new HeadListeners(parts.logger);
  }

  /** Whether the view has the head that the process shows now. */
  get isCurrent(): boolean {
    return this.sequence !== 0 && this.parts.shownHead.sequence === this.sequence;
  }

  /**
   * Moves to the shown head. Returns false while the database is ahead of it: the main thread has written a head and is
   * about to show it, so call again when it has.
   */
  refresh(): boolean {
    const shown = this.parts.shownHead.read();
    if (shown === undefined) return false;
    if (shown.sequence === this.sequence) return true;
    const snapshot = this.parts.database.snapshot();
    const reads = new MovingReads(snapshot);
    const pointer = readHead(reads);
    if (pointer === undefined || !equalBytes(pointer.hash, shown.hash)) {
      snapshot.close();
      return false;
    }
    const removed = this.stores?.blocksMissingIn(reads) ?? [];
    const before = this.stores?.head.header.number;
    this.stores ??= new ViewStores(reads, this.parts);
    this.stores.moveTo(snapshot, pointer, (before ?? 0n) - BigInt(removed.length));
    this.snapshot?.close();
    this.snapshot = snapshot;
    this.sequence = shown.sequence;
    if (before !== undefined) this.announce(before - BigInt(removed.length), removed);
    return true;
  }

  get genesis(): NamedHeader {
    return this.open.reads.genesis;
  }

  get head(): NamedHeader {
    return this.open.head;
  }

  get historyStart(): HistoryStart {
    return this.open.blocks.historyStart;
  }

  headerByNumber(number: bigint): NamedHeader | undefined {
    return this.open.reads.headerByNumber(number);
  }

  headerByHash(hash: Hash): NamedHeader | undefined {
    return this.open.reads.headerByHash(hash);
  }

  blockByNumber(number: bigint): StoredBlock | undefined {
    return this.open.reads.blockByNumber(number);
  }

  blockByHash(hash: Hash): StoredBlock | undefined {
    return this.open.reads.blockByHash(hash);
  }

  transactionByHash(hash: Hash): LocatedTransaction | undefined {
    return this.open.reads.transactionByHash(hash);
  }

  validatorsFor(number: bigint): readonly Address[] | undefined {
    return this.open.reads.validatorsFor(number);
  }

  stateAt(number: bigint): StateReader | undefined {
    return this.open.reads.stateAt(number);
  }

  /** Merkle proofs at block `number` (eth_getProof); undefined when that state is not stored. */
  prove(number: bigint, address: Address, slots: readonly Uint8Array[]): AccountProof | undefined {
    return this.open.world.prove(number, address, slots);
  }

  /** Whether reading the receipts of block `number` costs no read of the disk. */
  hasReceiptsInMemory(number: bigint): boolean {
    return this.open.blocks.hasReceiptsInMemory(number);
  }

  /** A listener of callers who wait hears of heads that were not shown when it was added, and may miss none of them. */
  onHeadChanged(row: HeadListener, listener: (change: HeadChange) => void): () => void {
    if (!AWAITING.has(row)) return this.listeners.add(row, listener);
    if (++this.awaiting === 1) this.parts.onAwaited?.(true);
    // Nobody may have told this thread of the heads until now.
    this.refresh();
    const remove = this.listeners.add(row, listener);
    return () => {
      remove();
      if (--this.awaiting === 0) this.parts.onAwaited?.(false);
    };
  }

  close(): void {
    this.snapshot?.close();
    this.snapshot = undefined;
  }

  private get open(): ViewStores {
    return expectDefined(this.stores, "the first refresh of the view");
  }

  /**
   * Announces the blocks above `base`, the newest one that the view had before and still has. They are read when a listener
   * accesses them: while the node catches up, there are thousands a second, and usually nobody does.
   */
  private announce(base: bigint, removed: readonly StoredBlock[]): void {
    const { head, reads } = this.open;
    let read: readonly StoredBlock[] | undefined;
    this.listeners.announce({
      head,
      get added() {
        read ??= blocksBetween(reads, base + 1n, head.header.number);
        return read;
      },
      removed,
    });
  }
}

function blocksBetween(reads: ChainReads, first: bigint, last: bigint): readonly StoredBlock[] {
  const blocks: StoredBlock[] = [];
  for (let number = first; number <= last; number++)
    blocks.push(expectDefined(reads.blockByNumber(number), "a block up to the head"));
  return blocks;
}

/** The stores of a view, over reads that move from snapshot to snapshot. */
class ViewStores {
  readonly world: WorldState;
  readonly reads: ChainReads;
  head: NamedHeader;
  private readonly database: MovingReads;
  readonly blocks: BlockStore;

  constructor(
    database: MovingReads,
    { spec: { ibft: schedule }, limits = VIEW_LIMITS }: Pick<ChainViewParts, "spec" | "limits">,
  ) {
    this.database = database;
    this.blocks = new BlockStore(limits.blocks, { database });
    this.world = new WorldState({ database }, limits.state);
    const header = (number: bigint) => this.blocks.header(number);
    const validators = new ValidatorSets({ database, schedule, header });
    const genesis = expectDefined(header(0n), "the genesis block");
    this.head = expectDefined(this.blocks.head(), "the head");
    this.reads = createChainReads(this, { genesis, validators, head: () => this.head });
  }

  /** Blocks of this view that `reads` do not have, read whole, newest first. */
  blocksMissingIn(reads: MovingReads): readonly StoredBlock[] {
    const missing: StoredBlock[] = [];
    for (let { number } = this.head.header; number > 0n; number--) {
      const block = expectDefined(this.blocks.block(number), "a block up to the head");
      const other = readHeader(reads, number);
      if (other !== undefined && equalBytes(other.hash, block.hash)) break;
      missing.push({ ...block, transactions: block.transactions, receipts: block.receipts });
    }
    return missing;
  }

  /** Makes the stores read the snapshot, with which they share the blocks up to `common`. */
  moveTo(snapshot: DatabaseSnapshot, { number, hash }: HeadPointer, common: bigint): void {
    this.database.current = snapshot;
    this.blocks.forgetAbove(common);
    this.blocks.reloadHistoryStart();
    this.world.reload(number);
    const head = expectDefined(this.blocks.header(number), "the header of the head");
    assert(equalBytes(head.hash, hash), "the head has the hash of the head pointer");
    // A new object after each move, as in the chain.
    this.head = { ...head };
  }
}
