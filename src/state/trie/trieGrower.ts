import { AssertionFailed, assert } from "../../primitives/assert.ts";
import { compareBytes } from "../../primitives/hex.ts";
import { BranchFrame } from "./branchFrame.ts";
import { divergenceDepth, nibbleAt } from "./nibbles.ts";
import type { LeafNode, OpenNode } from "./openNode.ts";
import { PageBuilder, type TrieUpdate } from "./pageBuilder.ts";
import { EMPTY_TRIE, type TrieRoot } from "./trieRoot.ts";

/** A trie that grows from nothing reads no node. */
const NO_READER: TrieUpdate["reader"] = {
  read: () => {
    throw new AssertionFailed("a new trie has no node to read");
  },
};

/** A branch with children to the left of the newest leaf; its new nodes are on the stack from `base` up. */
interface OpenBranch {
  readonly depth: number;
  readonly base: number;
  readonly frame: BranchFrame;
}

/**
 * Builds a whole trie from its leaves, in the memory of one path: each node is written once, children before parents. It
 * writes the pages that updateTrie would write for all leaves at once, without holding them: the branches on the path to
 * the newest leaf are open, everything to the left of it is in pages or on the stack.
 */
export class TrieGrower {
  private readonly builder: PageBuilder;
  private readonly frames: BranchFrame[] = [];
  /** Open branches from the root down, with rising depths. */
  private readonly open: OpenBranch[] = [];
  private newest: LeafNode | undefined;

  constructor(update: Omit<TrieUpdate, "reader">) {
    this.builder = new PageBuilder({ ...update, reader: NO_READER });
  }

  /** Leaves come in ascending order of their keys, which have one length, each key once. */
  add({ key, value, storage }: Omit<LeafNode, "kind">): void {
    const before = this.newest;
    this.newest = { kind: "leaf", key, value, storage };
    if (before === undefined) return;
    assert(compareBytes(before.key, key) < 0, "the leaves of a trie come in ascending order");
    const depth = divergenceDepth(before.key, key, 0);
    const subtree = this.closeBelow(depth, before);
    if (this.open.at(-1)?.depth !== depth) this.openBranch(depth, subtree);
    this.place(subtree, before.key);
  }

  /** Writes the rest, the root's page last. The grower must not be used afterwards. */
  finish(): TrieRoot {
    const last = this.newest;
    if (last === undefined) return EMPTY_TRIE;
    return this.builder.seal(this.closeBelow(-1, last), last.key);
  }

  /** Closes the open branches below `depth`, with `leaf` as their last; returns the subtree that begins after `depth`. */
  private closeBelow(depth: number, leaf: LeafNode): OpenNode | undefined {
    let subtree: OpenNode | undefined = leaf;
    for (let branch = this.open.at(-1); branch !== undefined && branch.depth > depth; ) {
      this.place(subtree, leaf.key);
      this.open.pop();
      const parent: OpenBranch | undefined = this.open.at(-1);
      const begin = Math.max(depth, parent?.depth ?? -1) + 1;
      const closed = this.builder.closeBranch(branch.frame, branch.depth, leaf.key, branch.base);
      subtree = this.builder.lead(closed, begin, branch.depth, leaf.key);
      branch = parent;
    }
    return subtree;
  }

  private openBranch(depth: number, first: OpenNode | undefined): void {
    const frame = this.frames[depth] ?? new BranchFrame();
    this.frames[depth] = frame;
    frame.clear();
    const base = first?.kind === "built" ? first.start : this.builder.length;
    this.open.push({ depth, base, frame });
  }

  /** Makes a subtree a child of the lowest open branch. */
  private place(subtree: OpenNode | undefined, key: Uint8Array): void {
    const branch = this.open.at(-1);
    assert(branch !== undefined && subtree !== undefined, "a subtree has a branch above it");
    branch.frame.fresh[nibbleAt(key, branch.depth)] = subtree;
  }
}
