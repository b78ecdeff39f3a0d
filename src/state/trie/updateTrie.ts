import { assert, present } from "../../primitives/assert.ts";
import { asHash } from "../../primitives/hash.ts";
import { compareBytes } from "../../primitives/hex.ts";
import { triePageKey } from "../../storage/stateKeys.ts";
import type { ByteArena } from "../byteArena.ts";
import { BranchFrame } from "./branchFrame.ts";
import { buildBranch, buildExtension, buildLeaf } from "./buildNode.ts";
import { nibbleAt, partingDepth, withNibble } from "./nibbles.ts";
import { rootNode, type StoragePointer, StoredNode } from "./nodeRecord.ts";
import type { BuiltNode, ExtensionNode, LeafNode, OpenNode } from "./openNode.ts";
import { openBranch, readLeaf, takeApart } from "./openStored.ts";
import { type PageSink, PageStack } from "./pageStack.ts";
import { placeChildren } from "./placeChildren.ts";
import type { NodeSource } from "./readNode.ts";
import { EMPTY_TRIE, isEmptyTrie, type TrieRoot } from "./trieRoot.ts";

export interface TrieChange {
  /** All keys of one trie have the same length. */
  readonly key: Uint8Array;
  /** What the leaf holds from now on; undefined deletes it. */
  readonly value: Uint8Array | undefined;
  /** Whether the key is in the trie now. Spares reading the leaves that are replaced. */
  readonly existed: boolean;
  /** For leaves of the account trie: where the account's storage is. */
  readonly storage?: StoragePointer;
}

/** What is below a place before its changes: nothing, something stored, or something already taken apart. */
type Base = StoredNode | LeafNode | ExtensionNode | undefined;

export interface TrieUpdate extends NodeSource {
  /** The block number that writes; greater than any version in the trie. */
  readonly version: number;
  readonly sink: PageSink;
  /** Where the pages are made. */
  readonly arena: ByteArena;
}

/**
 * Applies changes, sorted by key and without repetition, to the trie below `root`: each node on the way is read once,
 * each new node encoded and hashed once, and new pages go to the sink. The root's page begins at depth 0.
 */
export function updateTrie(update: TrieUpdate, root: TrieRoot, changes: readonly TrieChange[]): TrieRoot {
  const first = changes[0];
  if (first === undefined) return root;
  const base = isEmptyTrie(root) ? undefined : rootNode(root.hash, root.version);
  return new Updater(update).run(base, changes, first.key);
}

class Updater {
  private readonly update: TrieUpdate;
  private readonly stack: PageStack;
  private readonly frames: BranchFrame[] = [];

  constructor(update: TrieUpdate) {
    this.update = update;
    this.stack = new PageStack(update.arena);
  }

  run(base: Base, changes: readonly TrieChange[], someKey: Uint8Array): TrieRoot {
    const { version, trieId, sink } = this.update;
    const open = this.change(base, 0, changes, 0, changes.length);
    if (open === undefined) return EMPTY_TRIE;
    const built = this.build(open, 0);
    this.stack.seal(built, triePageKey(version, trieId, someKey, 0), sink);
    return { hash: asHash(built.reference), version };
  }

  /** Applies changes[from..until), all of which lead through the place at `depth` where `base` is. */
  private change(
    base: Base,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): OpenNode | undefined {
    if (base === undefined) return this.grow(depth, changes, from, until);
    switch (base.kind) {
      case "leaf":
        return this.changeLeaf(() => base, depth, changes, from, until);
      case "extension":
        return this.changeExtension(base, depth, changes, from, until);
      default:
        return this.changeStored(base, depth, changes, from, until);
    }
  }

  private changeStored(
    base: StoredNode,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): OpenNode | undefined {
    const { key } = changeAt(changes, from);
    if (base.isLeaf)
      return this.changeLeaf(() => readLeaf(this.update, base, key, depth), depth, changes, from, until);
    const frame = this.frame(depth);
    if (openBranch(this.update, frame, base, key, depth))
      return this.changeBranch(frame, depth, changes, from, until);
    const node = takeApart(this.update, base, key, depth);
    return this.change(node, depth, changes, from, until);
  }

  /** A leaf is read only when it stays, beside new neighbours. */
  private changeLeaf(
    read: () => LeafNode,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): OpenNode | undefined {
    for (let at = from; at < until; at++)
      if (changeAt(changes, at).existed) return this.grow(depth, changes, from, until);
    const { key, value, storage } = read();
    const kept: TrieChange = { key, value, existed: false, ...(storage === undefined ? {} : { storage }) };
    const together = [...changes.slice(from, until), kept].sort((a, b) => compareBytes(a.key, b.key));
    return this.grow(depth, together, 0, together.length);
  }

  private changeExtension(
    base: ExtensionNode,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): OpenNode | undefined {
    const parting = Math.min(
      base.until,
      partingDepth(base.key, changeAt(changes, from).key, depth),
      partingDepth(base.key, changeAt(changes, until - 1).key, depth),
    );
    if (parting === base.until) {
      const below = this.change(base.branch, base.until, changes, from, until);
      return below?.kind === "built" ? this.extend(below, base.key, base.until) : below;
    }
    const frame = this.frame(parting);
    frame.clear();
    const nibble = nibbleAt(base.key, parting);
    if (parting + 1 === base.until) frame.setStored(nibble, base.branch);
    else frame.fresh[nibble] = base;
    return this.lead(this.changeBranch(frame, parting, changes, from, until), depth, parting, base.key);
  }

  /** A subtree of the values among changes[from..until), where nothing is that stays. */
  private grow(
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): OpenNode | undefined {
    let start = from;
    while (start < until && changeAt(changes, start).value === undefined) start++;
    let end = until;
    while (end > start && changeAt(changes, end - 1).value === undefined) end--;
    if (start === end) return undefined;
    const { key, value, storage } = changeAt(changes, start);
    if (end - start === 1) return { kind: "leaf", key, value: present(value, "a value to grow"), storage };
    const parting = partingDepth(key, changeAt(changes, end - 1).key, depth);
    const frame = this.frame(parting);
    frame.clear();
    return this.lead(this.changeBranch(frame, parting, changes, start, end), depth, parting, key);
  }

  /** Changes below the branch that `frame` holds. */
  private changeBranch(
    frame: BranchFrame,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): OpenNode | undefined {
    const { fresh } = frame;
    const base = this.stack.length;
    for (let at = from; at < until; ) {
      const nibble = nibbleAt(changeAt(changes, at).key, depth);
      let end = at + 1;
      while (end < until && nibbleAt(changeAt(changes, end).key, depth) === nibble) end++;
      const below = fresh[nibble];
      assert(below?.kind !== "built", "a child is changed once");
      const child = this.change(below ?? frame.child(nibble), depth + 1, changes, at, end);
      fresh[nibble] = child;
      if (child === undefined) frame.remove(nibble);
      at = end;
    }
    return this.closeBranch(frame, depth, changeAt(changes, from).key, base);
  }

  /** Encodes the branch, unless fewer than two children are left to it. Their nodes are on the stack from `base` up. */
  private closeBranch(
    frame: BranchFrame,
    depth: number,
    key: Uint8Array,
    base: number,
  ): OpenNode | undefined {
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
      return this.collapse(fresh[only] ?? present(frame.child(only), "the child left"), depth, only, key);
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

  /** What becomes of a branch with one child: the child, reached by a longer path. */
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

  /** A branch below an extension from `depth` to `parting`, where there is a way between them. */
  private lead(
    node: OpenNode | undefined,
    depth: number,
    parting: number,
    key: Uint8Array,
  ): OpenNode | undefined {
    return node?.kind === "built" && parting > depth ? this.extend(node, key, parting) : node;
  }

  /** Begins an extension over a branch. Its length is open, so the branch gets a page of its own. */
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

  private frame(depth: number): BranchFrame {
    let frame = this.frames[depth];
    if (frame === undefined) {
      frame = new BranchFrame();
      this.frames[depth] = frame;
    }
    return frame;
  }
}

function changeAt(changes: readonly TrieChange[], at: number): TrieChange {
  return present(changes[at], "a change");
}
