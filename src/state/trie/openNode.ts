import type { StoragePointer, StoredNode } from "./nodeRecord.ts";

export interface LeafNode {
  readonly kind: "leaf";
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly storage?: StoragePointer | undefined;
}

/** An extension from wherever its parent ends down to `until`, over a branch that has its place already. */
export interface ExtensionNode {
  readonly kind: "extension";
  readonly key: Uint8Array;
  readonly until: number;
  readonly branch: StoredNode;
}

/**
 * A node below a place whose parent is still open. Leaves and extensions have no RLP yet: where their path begins
 * depends on whether the parent stays a branch.
 */
export type OpenNode = LeafNode | ExtensionNode | BuiltNode;

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
