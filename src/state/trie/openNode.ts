import type { StoragePointer, StoredNode } from "./storedNode.ts";

export interface LeafNode {
  readonly kind: "leaf";
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly storage?: StoragePointer | undefined;
}

/** An extension from the end of its parent down to `until`, over a branch that already has its location. */
export interface ExtensionNode {
  readonly kind: "extension";
  readonly key: Uint8Array;
  readonly until: number;
  readonly branch: StoredNode;
}

/**
 * A node whose parent is still open. Leaves and extensions have no RLP yet: where their path begins depends on whether
 * the parent stays a branch.
 */
export type OpenNode = LeafNode | ExtensionNode | BuiltNode;

/** An encoded node in no page yet: the node and its descendants in its page are `[start, end)` of the stack. */
export interface BuiltNode {
  readonly kind: "built";
  /** The node's hash, or its RLP when that is shorter; it then takes no bytes of the stack. */
  readonly reference: Uint8Array;
  readonly isLeaf: boolean;
  /** Start of the node's fragment of a page. */
  start: number;
  /** Start of the node's own record, the last one of the fragment. */
  record: number;
  /** End of the fragment. */
  end: number;
}
