import { expectDefined } from "../../primitives/assert.ts";
import { type Body, memoryOfBlock } from "../../types/block.ts";
import {
  MAX_BLOCKS_AHEAD,
  MAX_BODIES_OF_REQUEST,
  MAX_BODIES_OF_SAMPLE,
  MAX_BYTES_OF_REQUEST,
  MAX_BYTES_OF_SAMPLE,
  MAX_HEADERS_AHEAD,
  MAX_WAITING_BODY_BYTES,
} from "../limits.ts";
import type { CheckedHeader, PreparedBlock, SyncPeer } from "../ports.ts";
import { emptyBodyOf } from "../segment.ts";

/** A block whose header was checked, until it is imported. */
export interface PendingBlock {
  readonly header: CheckedHeader;
  /** The peer that sent its body; its header, when it has none. */
  source: SyncPeer;
  /** Set once its body has arrived. */
  prepared: PreparedBlock | undefined;
  /** Open requests for its body, samples apart. */
  requests: number;
  isSampled: boolean;
  /** It left the window. */
  isDone: boolean;
  /** Memory of its body; estimated by its gas until it has arrived. */
  bytes: number;
}

/**
 * The blocks between the imported ones and the newest checked header, in order. Bounded: headers by their number, bodies
 * that wait or are requested by number and memory.
 */
export interface BlockWindow {
  readonly front: PendingBlock | undefined;
  readonly isFull: boolean;
  add(headers: readonly CheckedHeader[], source: SyncPeer): void;
  /** Blocks to request together from a peer of this height, in order; none when bodies enough are on their way. */
  toRequest(height: bigint): readonly PendingBlock[];
  /** A few blocks for a peer that has delivered nothing so far: nobody waits for them, and others may be asked as well. */
  forSample(height: bigint): readonly PendingBlock[];
  /** A request for these blocks began. */
  requested(blocks: readonly PendingBlock[]): void;
  /** It ended, or is not waited for any more. */
  released(blocks: readonly PendingBlock[]): void;
  /** The body has arrived. */
  accept(block: PendingBlock, body: Body, source: SyncPeer): void;
  /** Removes the first block. */
  shift(): void;
}

export function createBlockWindow(prepare: Prepare): BlockWindow {
  return new PendingBlocks(prepare);
}

type Prepare = (block: { readonly header: CheckedHeader; readonly body: Body }) => PreparedBlock;

class PendingBlocks implements BlockWindow {
  readonly #prepare: Prepare;
  #blocks: (PendingBlock | undefined)[] = [];
  /** Blocks before this index are imported. */
  #begin = 0;
  /** Memory of the bodies that wait or are requested. */
  #bytes = 0;

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  get front(): PendingBlock | undefined {
    return this.#blocks[this.#begin];
  }

  get isFull(): boolean {
    return this.#blocks.length - this.#begin >= MAX_HEADERS_AHEAD;
  }

  add(headers: readonly CheckedHeader[], source: SyncPeer): void {
    for (const header of headers) {
      const empty = emptyBodyOf(header.header);
      const prepared = empty && this.#prepare({ header, body: empty });
      const bytes = empty === undefined ? estimatedBytes(header) : 0;
      this.#blocks.push({ header, source, prepared, requests: 0, isSampled: false, isDone: false, bytes });
    }
  }

  toRequest(height: bigint): readonly PendingBlock[] {
    const chosen: PendingBlock[] = [];
    let ofRequest = 0;
    const until = Math.min(this.#blocks.length, this.#begin + MAX_BLOCKS_AHEAD);
    for (let index = this.#begin; index < until; index++) {
      const block = expectDefined(this.#blocks[index], "a block of the window");
      if (!isAwaited(block)) continue;
      if (block.header.header.number > height || chosen.length >= MAX_BODIES_OF_REQUEST) break;
      const isTooMuch =
        ofRequest + block.bytes > MAX_BYTES_OF_REQUEST ||
        this.#bytes + ofRequest + block.bytes > MAX_WAITING_BODY_BYTES;
      // The first block is always requested, so that the import goes on.
      if (isTooMuch && (chosen.length > 0 || index > this.#begin)) break;
      chosen.push(block);
      ofRequest += block.bytes;
    }
    return chosen;
  }

  forSample(height: bigint): readonly PendingBlock[] {
    const chosen: PendingBlock[] = [];
    let ofSample = 0;
    for (let index = this.#blocks.length - 1; index >= this.#begin; index--) {
      const block = expectDefined(this.#blocks[index], "a block of the window");
      if (!isAwaited(block) || block.isSampled || block.header.header.number > height) continue;
      if (chosen.length >= MAX_BODIES_OF_SAMPLE) break;
      if (chosen.length > 0 && ofSample + block.bytes > MAX_BYTES_OF_SAMPLE) break;
      chosen.push(block);
      ofSample += block.bytes;
    }
    for (const block of chosen) block.isSampled = true;
    return chosen;
  }

  requested(blocks: readonly PendingBlock[]): void {
    for (const block of blocks) {
      if (isAwaited(block)) this.#bytes += block.bytes;
      block.requests++;
    }
  }

  released(blocks: readonly PendingBlock[]): void {
    for (const block of blocks) {
      block.requests--;
      if (isAwaited(block) && !block.isDone) this.#bytes -= block.bytes;
    }
  }

  accept(block: PendingBlock, body: Body, source: SyncPeer): void {
    if (block.prepared !== undefined || block.isDone) return;
    if (block.requests > 0) this.#bytes -= block.bytes;
    block.bytes = memoryOfBlock({ header: block.header.header, ...body });
    this.#bytes += block.bytes;
    block.source = source;
    block.prepared = this.#prepare({ header: block.header, body });
  }

  shift(): void {
    const { front } = this;
    if (front === undefined) return;
    if (!isAwaited(front)) this.#bytes -= front.bytes;
    front.isDone = true;
    this.#blocks[this.#begin++] = undefined;
    if (this.#begin < COMPACTED) return;
    this.#blocks = this.#blocks.slice(this.#begin);
    this.#begin = 0;
  }
}

/** Imported blocks whose places are given up together. */
const COMPACTED = 256;

function isAwaited({ prepared, requests }: PendingBlock): boolean {
  return prepared === undefined && requests === 0;
}

/** A transfer takes some 1.2 KB in memory for 21,000 gas; of calldata, 16 gas is a byte. */
function estimatedBytes({ header }: CheckedHeader): number {
  return 1024 + Number(header.gasUsed) / 16;
}
