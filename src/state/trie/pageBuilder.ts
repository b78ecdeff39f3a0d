import { assert, expectDefined } from "../../primitives/assert.ts";
import { asHash } from "../../primitives/hash.ts";
import { triePageKey } from "../../storage/stateKeys.ts";
import type { ByteArena } from "../byteArena.ts";
import type { BranchFrame } from "./branchFrame.ts";
import { buildBranch, buildExtension, buildLeaf } from "./buildNode.ts";
import { withNibble } from "./nibbles.ts";
import type { BuiltNode, ExtensionNode, OpenNode } from "./openNode.ts";
import { takeApart } from "./openStored.ts";
import { type PageSink, PageStack } from "./pageStack.ts";
import { placeChildren } from "./placeChildren.ts";
import type { NodeSource } from "./readNode.ts";
import { StoredNode } from "./storedNode.ts";
import { EMPTY_TRIE, type TrieRoot } from "./trieRoot.ts";

export interface TrieUpdate extends NodeSource {
  /** Number of the block that writes; greater than any version in the trie. */
  readonly version: number;
  readonly sink: PageSink;
  /** Allocates the pages. */
  readonly arena: ByteArena;
}

/** Builds the new nodes of one update, children before parents, and hands their pages to the sink. */
export class PageBuilder {
  private readonly update: TrieUpdate;
  private readonly stack: PageStack;

  constructor(update: TrieUpdate) {
    this.update = update;
    this.stack = new PageStack(update.arena);
  }

  /** Bytes of the nodes that are in no page yet. */
  get length(): number {
    return this.stack.length;
  }

  /** Ends the update: builds and seals the root's page. */
  seal(open: OpenNode | undefined, someKey: Uint8Array): TrieRoot {
    const { version, trieId, sink } = this.update;
    if (open === undefined) return EMPTY_TRIE;
    const built = this.build(open, 0);
    this.stack.seal(built, triePageKey(version, trieId, someKey, 0), sink);
    return { hash: asHash(built.reference), version };
  }

  /** Encodes the branch, unless it has fewer than two children left. Their nodes are on the stack from `base` up. */
  closeBranch(frame: BranchFrame, depth: number, key: Uint8Array, base: number): OpenNode | undefined {
    const { fresh } = frame;
    let count = 0;
    let only = 0;
    for (let nibble = 0; nibble < 16; nibble++) {
      if (fresh[nibble] === undefined && frame.lengths[nibble] === 0) continue;
      count++;
      only = nibble;
    }
    if (count === 0) return undefined;
    if (count === 1)
      return this.collapse(
        fresh[only] ?? expectDefined(frame.child(only), "the child left"),
        depth,
        only,
        key,
      );
    for (let nibble = 0; nibble < 16; nibble++) {
      const child = fresh[nibble];
      if (child === undefined) continue;
      const built = this.build(child, depth + 1);
      frame.setReference(nibble, built.reference, built.isLeaf);
      fresh[nibble] = built;
    }
    const { version, trieId, sink } = this.update;
    const measure = frame.measure();
    placeChildren(
      this.stack,
      frame,
      { version, trieId, key, depth, base, recordLength: measure.record },
      sink,
    );
    return buildBranch(this.stack, frame, depth, base, measure);
  }

  /** Replaces a branch with one child by that child, with a longer path. */
  private collapse(child: OpenNode | StoredNode, depth: number, nibble: number, key: Uint8Array): OpenNode {
    switch (child.kind) {
      case "leaf":
      case "extension":
        return child;
      case "built":
        return this.extend(child, withNibble(key, depth, nibble), depth + 1);
      default:
        return takeApart(this.update, child, withNibble(key, depth, nibble), depth + 1);
    }
  }

  /** Puts an extension from `depth` to `divergence` over a branch, when there are nibbles between them. */
  lead(node: OpenNode | undefined, depth: number, divergence: number, key: Uint8Array): OpenNode | undefined {
    return node?.kind === "built" && divergence > depth ? this.extend(node, key, divergence) : node;
  }

  /** Begins an extension over a branch. Its length is not known yet, so the branch gets a page of its own. */
  private extend(branch: BuiltNode, key: Uint8Array, until: number): ExtensionNode {
    const { version, trieId, sink } = this.update;
    const place = { version, pageDepth: until, offset: branch.record - branch.start };
    if (branch.end > branch.start) {
      assert(branch.end === this.stack.length, "the branch below an extension is the node written last");
      this.stack.seal(branch, triePageKey(version, trieId, key, until), sink);
      this.stack.length = branch.start;
    }
    const reference = { bytes: branch.reference, start: 0, length: branch.reference.length };
    return { kind: "extension", key, until, branch: new StoredNode(reference, place, false) };
  }

  private build(node: OpenNode, depth: number): BuiltNode {
    switch (node.kind) {
      case "leaf":
        return buildLeaf(this.stack, node, depth);
      case "extension":
        return buildExtension(this.stack, node, depth);
      default:
        return node;
    }
  }
}
