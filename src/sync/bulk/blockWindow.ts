import type { CheckedHeader } from "../../chain/bulk/headerRun.ts";
import { expectDefined } from "../../primitives/assert.ts";
import type { Body } from "../../types/block.ts";
import { memoryOfBlock } from "../../types/memory.ts";
import type { BulkLimits } from "../limits.ts";
import type { PreparedBlock, SyncPeer } from "../ports.ts";
import { emptyBodyOf } from "../segment.ts";

/** A block whose header was checked, until it is imported. */
export interface PendingBlock {
  readonly header: CheckedHeader;
  /** The peer that sent its body; or its header, while it has no body. */
  source: SyncPeer;
  /** Set once its body has arrived. */
  prepared: PreparedBlock | undefined;
  /** Number of open requests for its body, without samples. */
  requests: number;
  /** When the newest of these requests was sent. */
  requestedMs: number;
  isSampled: boolean;
  /** Whether the block has left the window. */
  isDone: boolean;
  /** Memory of its body; estimated by its gas until it has arrived. */
  bytes: number;
}

/** What one request to a peer may ask for: blocks up to its height, of limited memory in all. */
interface RequestLoad {
  readonly height: bigint;
  readonly bytes: number;
}

type Prepare = (block: { readonly header: CheckedHeader; readonly body: Body }) => PreparedBlock;

/**
 * The blocks between the imported ones and the newest checked header, in order. Headers are bounded in number, bodies that
 * wait or are requested in number and memory.
 */
export class BlockWindow {
  readonly #limits: BulkLimits;
  readonly #prepare: Prepare;
  #blocks: (PendingBlock | undefined)[] = [];
  /** Index of the first block that is not imported. */
  #begin = 0;
  /** Memory of bodies that wait or are requested. */
  #bytes = 0;
  #headerBytes = 0;

  constructor(limits: BulkLimits, prepare: Prepare) {
    this.#limits = limits;
    this.#prepare = prepare;
  }

  get front(): PendingBlock | undefined {
    return this.#blocks[this.#begin];
  }

  get isFull(): boolean {
    const { headers, headerBytes } = this.#limits;
    return this.#blocks.length - this.#begin >= headers || this.#headerBytes >= headerBytes;
  }

  /** Number of the newest checked header. */
  get newest(): bigint | undefined {
    return this.#blocks.at(-1)?.header.header.number;
  }

  add(headers: readonly CheckedHeader[], source: SyncPeer): void {
    for (const header of headers) {
      const empty = emptyBodyOf(header.header);
      const prepared = empty && this.#prepare({ header, body: empty });
      const bytes = empty === undefined ? estimatedBytes(header) : 0;
      this.#headerBytes += memoryOfHeader(header);
      const state = { requests: 0, requestedMs: 0, isSampled: false, isDone: false };
      this.#blocks.push({ header, source, prepared, bytes, ...state });
    }
  }

  /** Blocks to request together from a peer, in order; none when enough bodies are on their way. */
  toRequest({ height, bytes }: RequestLoad): readonly PendingBlock[] {
    const { blocks, bodiesOfRequest, bodyBytes } = this.#limits;
    const chosen: PendingBlock[] = [];
    let ofRequest = 0;
    const until = Math.min(this.#blocks.length, this.#begin + blocks);
    for (let index = this.#begin; index < until; index++) {
      const block = expectDefined(this.#blocks[index], "a block of the window");
      if (!isAwaited(block)) continue;
      if (block.header.header.number > height || chosen.length >= bodiesOfRequest) break;
      const isRoom = this.#bytes + ofRequest + block.bytes <= bodyBytes;
      // The first block is always requested, so that the import continues.
      if (!isRoom && index > this.#begin) break;
      if (chosen.length > 0 && ofRequest + block.bytes > bytes) break;
      chosen.push(block);
      ofRequest += block.bytes;
    }
    return chosen;
  }

  /** The first missing blocks, if they were requested once, before `sinceMs`: another peer may be faster. */
  overdue(sinceMs: number, { height, bytes }: RequestLoad): readonly PendingBlock[] {
    const chosen: PendingBlock[] = [];
    let ofRequest = 0;
    for (let index = this.#begin; index < this.#blocks.length; index++) {
      const block = expectDefined(this.#blocks[index], "a block of the window");
      if (block.prepared !== undefined) continue;
      const isOverdue = block.requests === 1 && block.requestedMs <= sinceMs;
      if (!isOverdue || block.header.header.number > height) break;
      if (chosen.length > 0 && ofRequest + block.bytes > bytes) break;
      if (chosen.length >= this.#limits.bodiesOfRequest) break;
      chosen.push(block);
      ofRequest += block.bytes;
    }
    return chosen;
  }

  /** A few blocks for a peer that has delivered nothing so far: nobody waits for them, and others may be asked as well. */
  forSample(height: bigint): readonly PendingBlock[] {
    const chosen: PendingBlock[] = [];
    let ofSample = 0;
    for (let index = this.#blocks.length - 1; index >= this.#begin; index--) {
      const block = expectDefined(this.#blocks[index], "a block of the window");
      if (!isAwaited(block) || block.isSampled || block.header.header.number > height) continue;
      if (chosen.length >= this.#limits.bodiesOfSample) break;
      if (chosen.length > 0 && ofSample + block.bytes > this.#limits.bytesOfSample) break;
      chosen.push(block);
      ofSample += block.bytes;
    }
    for (const block of chosen) block.isSampled = true;
    return chosen;
  }

  /** Notes that a request for these blocks began. */
  requested(blocks: readonly PendingBlock[], nowMs: number): void {
    for (const block of blocks) {
      if (isAwaited(block)) this.#bytes += block.bytes;
      block.requests++;
      block.requestedMs = nowMs;
    }
  }

  /** Notes that a request for these blocks ended, or is no longer awaited. */
  released(blocks: readonly PendingBlock[]): void {
    for (const block of blocks) {
      block.requests--;
      if (isAwaited(block) && !block.isDone) this.#bytes -= block.bytes;
    }
  }

  /** Stores a body that has arrived. */
  accept(block: PendingBlock, body: Body, source: SyncPeer): void {
    if (block.prepared !== undefined || block.isDone) return;
    if (block.requests > 0) this.#bytes -= block.bytes;
    block.bytes = memoryOfBlock({ header: block.header.header, ...body });
    this.#bytes += block.bytes;
    block.source = source;
    block.prepared = this.#prepare({ header: block.header, body });
  }

  /** Removes the first block. */
  shift(): void {
    const { front } = this;
    if (front === undefined) return;
    if (!isAwaited(front)) this.#bytes -= front.bytes;
    this.#headerBytes -= memoryOfHeader(front.header);
    front.isDone = true;
    this.#blocks[this.#begin++] = undefined;
    if (this.#begin < COMPACTED) return;
    this.#blocks = this.#blocks.slice(this.#begin);
    this.#begin = 0;
  }
}

/** Number of imported blocks whose slots are freed together. */
const COMPACTED = 256;

function isAwaited({ prepared, requests }: PendingBlock): boolean {
  return prepared === undefined && requests === 0;
}

function memoryOfHeader({ header }: CheckedHeader): number {
  return memoryOfBlock({ header, transactions: [], ommers: [] });
}

/** Estimates memory before the body is known: a transfer takes some 1.4 KB for 21,000 gas; a byte of calldata costs 16 gas. */
function estimatedBytes({ header }: CheckedHeader): number {
  return Math.min(1024 + Number(header.gasUsed) / 16, LARGEST_ESTIMATE);
}

/** More than any body has, and little enough for sums to stay exact: one transaction can use 2^63 gas. */
const LARGEST_ESTIMATE = 2 ** 30;
