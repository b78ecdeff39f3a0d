import { type Hash, keccak256 } from "../../primitives/hash.ts";
import { checksumOf, SEAL_BYTES, writeUint32 } from "../../storage/checksum.ts";
import type { ByteArena } from "../byteArena.ts";
import type { BuiltNode } from "./openNode.ts";
import { PAGE_TRAILER_LENGTH } from "./pageReader.ts";
import { writeU16 } from "./storedNode.ts";

/**
 * Largest page in bytes. New nodes share a page with their parent as long as they fit: the seven nodes that one
 * transfer rewrites are one put, and a full block writes 4,000 pages instead of 60,000 nodes.
 */
export const PAGE_LIMIT = 8192;

export type PageSink = (key: Uint8Array, page: Uint8Array) => void;

/**
 * New nodes, children before parents. Nodes on the stack are in no page yet; a parent either leaves the fragments of
 * its children below itself, or seals some of them into pages of their own.
 */
export class PageStack {
  bytes: Uint8Array = new Uint8Array(4 * PAGE_LIMIT);
  length = 0;
  private readonly arena: ByteArena;

  /** Allocates pages in `arena`. */
  constructor(arena: ByteArena) {
    this.arena = arena;
  }

  /** Ensures that `count` more bytes can be written after `length`. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const larger = new Uint8Array(2 * (this.length + count));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  hash(start: number, end: number): Hash {
    return keccak256(this.bytes.subarray(start, end));
  }

  /** Copies the fragment of a node into a page of its own, with a checksum, and hands it to the sink. */
  seal(node: BuiltNode, key: Uint8Array, sink: PageSink): void {
    const length = node.end - node.start + PAGE_TRAILER_LENGTH;
    const sealed = this.arena.allocate(length + SEAL_BYTES);
    sealed.set(this.bytes.subarray(node.start, node.end));
    writeU16(sealed, length - PAGE_TRAILER_LENGTH, node.record - node.start);
    writeUint32(sealed, length, checksumOf(key, sealed.subarray(0, length)));
    sink(key, sealed);
  }

  /** Moves the fragment of a node down to `start`. */
  moveDown(node: BuiltNode, start: number): void {
    const by = node.start - start;
    if (by === 0) return;
    this.bytes.copyWithin(start, node.start, node.end);
    node.start -= by;
    node.record -= by;
    node.end -= by;
  }
}
