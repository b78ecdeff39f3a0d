import { CHUNK_BLOCKS, SEGMENT_BLOCKS } from "../storage/blooms/bloomFiles.ts";
import type { LogIndexTask } from "./logIndexWorker.ts";

/** Tracks what the node itself still has to write of the log index, from the reports of the chain and of searches. */
export class LogIndexBacklog {
  private readonly isAutomatic: boolean;
  /** Segments to rewrite. */
  private readonly invalidSegments = new Set<number>();
  private isBehind: boolean;
  /** Segments up to this one have complete files, or an operator removed them. */
  private completed = -1;

  /** Without `isAutomatic` only invalid segments are written. */
  constructor(isAutomatic: boolean) {
    this.isAutomatic = isAutomatic;
    this.isBehind = isAutomatic;
  }

  /** Called with the number of the new head. Returns whether there may be new blocks to write. */
  headChanged(head: bigint, { wasExtended, wasRewound }: HeadChange): boolean {
    if (wasRewound) this.completed = Math.min(this.completed, segmentOf(head) - 1);
    const isChunkFull = wasExtended && (head + 1n) % BigInt(CHUNK_BLOCKS) === 0n;
    if (!this.isAutomatic || !(isChunkFull || wasRewound)) return false;
    this.isBehind = true;
    return true;
  }

  /** Called when the file of a segment is invalid. Returns false when this was known. */
  reportInvalid(segment: number): boolean {
    if (this.invalidSegments.has(segment)) return false;
    this.invalidSegments.add(segment);
    return true;
  }

  /** Takes the next task, rewrites first. */
  take(head: bigint): LogIndexTask | undefined {
    const [segment] = this.invalidSegments;
    if (segment !== undefined) {
      this.invalidSegments.delete(segment);
      return { first: segment, last: segment, isRewrite: true };
    }
    if (!this.isBehind || !this.hasFullChunk(head)) return undefined;
    this.isBehind = false;
    return { first: this.completed + 1, last: Number.MAX_SAFE_INTEGER, isRewrite: false };
  }

  /** Called when the files of a task are complete, up to the head. */
  written({ last }: LogIndexTask, head: bigint): void {
    this.completed = Math.max(this.completed, Math.min(last, segmentOf(head)) - 1);
  }

  /** Whether a thousand blocks may be in no file. */
  private hasFullChunk(head: bigint): boolean {
    return head + 1n >= BigInt((this.completed + 1) * SEGMENT_BLOCKS + CHUNK_BLOCKS);
  }
}

interface HeadChange {
  readonly wasExtended: boolean;
  readonly wasRewound: boolean;
}

/** The segment with a block. */
export function segmentOf(block: bigint): number {
  return Number(block / BigInt(SEGMENT_BLOCKS));
}
