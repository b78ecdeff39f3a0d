import { present } from "../../primitives/assert.ts";
import { type Hash, keccak256 } from "../../primitives/hash.ts";
import { sealEntry } from "../../storage/checksum.ts";
import { triePageKey } from "../../storage/stateKeys.ts";
import { withNibble } from "./nibbles.ts";
import { type BranchFrame, SAME_PAGE, writeU16 } from "./nodeRecord.ts";
import { PAGE_TRAILER_LENGTH } from "./pageReader.ts";

/**
 * Largest page. New nodes share a page with their parent as long as they fit: the seven nodes that one transfer
 * rewrites are one put, and a full block writes 4,000 pages instead of 60,000 nodes.
 */
export const PAGE_LIMIT = 8192;

/** A node just written, not yet placed: `bytes [start, end)` of the stack are it and its descendants in its page. */
export interface BuiltNode {
  readonly kind: "built";
  /** Its hash, or its RLP when that is shorter; then it occupies nothing of the stack. */
  readonly reference: Uint8Array;
  readonly isLeaf: boolean;
  /** Where the fragment of page begins. */
  start: number;
  /** Where its own record begins, the last one of the fragment. */
  record: number;
  /** Where the fragment ends. */
  end: number;
}

export type PageSink = (key: Uint8Array, page: Uint8Array) => void;

/**
 * New nodes in the order children before parents. What lies on the stack has not found its page yet; a parent either
 * leaves the fragments of its children below itself, or seals some of them off as pages of their own.
 */
export class PageStack {
  bytes: Uint8Array = new Uint8Array(4 * PAGE_LIMIT);
  length = 0;

  /** Makes sure that `count` more bytes can be written behind `length`. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const larger = new Uint8Array(2 * (this.length + count));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  hash(start: number, end: number): Hash {
    return keccak256(this.bytes.subarray(start, end));
  }

  /** Copies the fragment of a node into a page of its own and hands that to the sink. */
  seal(node: BuiltNode, key: Uint8Array, sink: PageSink): void {
    const page = new Uint8Array(node.end - node.start + PAGE_TRAILER_LENGTH);
    page.set(this.bytes.subarray(node.start, node.end));
    writeU16(page, page.length - PAGE_TRAILER_LENGTH, node.record - node.start);
    sink(key, sealEntry(key, page));
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

/** Names the page that begins at the first `depth` nibbles of `key`. */
export interface PagePlace {
  readonly version: number;
  readonly trieId: number;
}

/**
 * Places the new children of the branch at `depth`, whose fragments fill the stack from `base` up, so that those left
 * and the branch's own record make one page at most: the largest are sealed off until the rest fits.
 */
export function placeChildren(
  stack: PageStack,
  frame: BranchFrame,
  children: readonly (BuiltNode | undefined)[],
  branch: {
    readonly place: PagePlace;
    readonly key: Uint8Array;
    readonly depth: number;
    readonly base: number;
  },
  sink: PageSink,
): void {
  const { version, trieId } = branch.place;
  const kept: number[] = [];
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = children[nibble];
    if (child !== undefined && child.end > child.start) kept.push(nibble);
  }
  const built = (nibble: number) => present(children[nibble], "a new child");
  const sizeOf = (nibble: number) => built(nibble).end - built(nibble).start;
  let total = stack.length - branch.base + frame.recordLength;
  if (total > PAGE_LIMIT) {
    kept.sort((a, b) => sizeOf(a) - sizeOf(b));
    while (total > PAGE_LIMIT && kept.length > 0) {
      const nibble = present(kept.pop(), "a child to seal off");
      const child = built(nibble);
      const key = triePageKey(
        version,
        trieId,
        withNibble(branch.key, branch.depth, nibble),
        branch.depth + 1,
      );
      stack.seal(child, key, sink);
      frame.setPlace(nibble, version, branch.depth + 1, child.record - child.start);
      total -= child.end - child.start;
    }
    kept.sort((a, b) => built(a).start - built(b).start);
    stack.length = branch.base;
    for (const nibble of kept) {
      stack.moveDown(built(nibble), stack.length);
      stack.length = built(nibble).end;
    }
  }
  for (const nibble of kept) frame.setPlace(nibble, version, SAME_PAGE, stack.length - built(nibble).record);
}
