import { assert, expectDefined } from "../../primitives/assert.ts";
import { asHash } from "../../primitives/hash.ts";
import { compareBytes } from "../../primitives/hex.ts";
import type { Steps } from "../../primitives/steps.ts";
import { triePageKey } from "../../storage/stateKeys.ts";
import type { ByteArena } from "../byteArena.ts";
import { BranchFrame } from "./branchFrame.ts";
import { buildBranch, buildExtension, buildLeaf } from "./buildNode.ts";
import { divergenceDepth, nibbleAt, withNibble } from "./nibbles.ts";
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
  /** The new value of the leaf; undefined deletes it. */
  readonly value: Uint8Array | undefined;
  /** Whether the key is in the trie now. Spares reading the leaves that are replaced. */
  readonly existed: boolean;
  /** For leaves of the account trie: the pointer to the account's storage. */
  readonly storage?: StoragePointer;
}

/** The subtree before its changes: empty, a stored node, or a leaf or extension that was already decoded. */
type Base = StoredNode | LeafNode | ExtensionNode | undefined;

export interface TrieUpdate extends NodeSource {
  /** Number of the block that writes; greater than any version in the trie. */
  readonly version: number;
  readonly sink: PageSink;
  /** Allocates the pages. */
  readonly arena: ByteArena;
}

/**
 * Applies changes, sorted by key and without duplicates, to the trie of `root`: reads each node on the paths once,
 * encodes and hashes each new node once, and hands new pages to the sink. The root's page begins at depth 0.
 */
export function updateTrie(update: TrieUpdate, root: TrieRoot, changes: readonly TrieChange[]): TrieRoot {
  const first = changes[0];
  if (first === undefined) return root;
  const updater = new Updater(update);
  return updater.seal(updater.change(baseOf(root), 0, changes, 0, changes.length), first.key);
}

/** As updateTrie, for any number of changes. All versions reachable from the root must stay readable until the end. */
export function* updateTrieInSteps(
  update: TrieUpdate,
  root: TrieRoot,
  changes: readonly TrieChange[],
): Steps<TrieRoot> {
  if (changes.length <= STEP_CHANGES) return updateTrie(update, root, changes);
  const updater = new Updater(update);
  const open = yield* updater.changeInSteps(baseOf(root), 0, changes, 0, changes.length);
  return updater.seal(open, changeAt(changes, 0).key);
}

/** Changes per step: less than a millisecond when the nodes are in memory. */
const STEP_CHANGES = 64;

function baseOf(root: TrieRoot): Base {
  return isEmptyTrie(root) ? undefined : rootNode(root.hash, root.version);
}

/** An opened branch and the changes below it. An extension along `leadKey` from `leadFrom` on leads to the result. */
interface PendingBranch {
  readonly kind: "pending";
  readonly frame: BranchFrame;
  readonly depth: number;
  readonly changes: readonly TrieChange[];
  readonly from: number;
  readonly until: number;
  readonly leadFrom: number;
  readonly leadKey: Uint8Array;
}

class Updater {
  private readonly update: TrieUpdate;
  private readonly stack: PageStack;
  private readonly frames: BranchFrame[] = [];

  constructor(update: TrieUpdate) {
    this.update = update;
    this.stack = new PageStack(update.arena);
  }

  /** Ends the update: builds and seals the root's page. */
  seal(open: OpenNode | undefined, someKey: Uint8Array): TrieRoot {
    const { version, trieId, sink } = this.update;
    if (open === undefined) return EMPTY_TRIE;
    const built = this.build(open, 0);
    this.stack.seal(built, triePageKey(version, trieId, someKey, 0), sink);
    return { hash: asHash(built.reference), version };
  }

  /** Applies changes[from..until), whose keys all pass through `base` at `depth`. */
  change(
    base: Base,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): OpenNode | undefined {
    const pending = this.approach(base, depth, changes, from, until);
    return pending?.kind === "pending" ? this.changeBranch(pending) : pending;
  }

  /** As change. Between two steps it holds no view into cache memory, which other work may reuse meanwhile. */
  *changeInSteps(
    base: Base,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): Steps<OpenNode | undefined> {
    const pending = this.approach(base, depth, changes, from, until);
    return pending?.kind === "pending" ? yield* this.changeBranchInSteps(pending) : pending;
  }

  /** Descends to the first branch where the changes diverge, or to the end when there is none. */
  private approach(
    base: Base,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): PendingBranch | OpenNode | undefined {
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
  ): PendingBranch | OpenNode | undefined {
    const { key } = changeAt(changes, from);
    if (base.isLeaf)
      return this.changeLeaf(() => readLeaf(this.update, base, key, depth), depth, changes, from, until);
    const frame = this.frame(depth);
    if (openBranch(this.update, frame, base, key, depth))
      return { kind: "pending", frame, depth, changes, from, until, leadFrom: depth, leadKey: key };
    const node = takeApart(this.update, base, key, depth);
    return this.approach(node, depth, changes, from, until);
  }

  /** Reads the old leaf only when it stays, beside new neighbours. */
  private changeLeaf(
    read: () => LeafNode,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): PendingBranch | OpenNode | undefined {
    for (let at = from; at < until; at++)
      if (changeAt(changes, at).existed) return this.grow(depth, changes, from, until);
    const { key, value, storage } = read();
    const kept: TrieChange = { key, value, existed: false, ...(storage === undefined ? {} : { storage }) };
    const merged = [...changes.slice(from, until), kept].sort((a, b) => compareBytes(a.key, b.key));
    return this.grow(depth, merged, 0, merged.length);
  }

  private changeExtension(
    base: ExtensionNode,
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): PendingBranch | OpenNode | undefined {
    const divergence = Math.min(
      base.until,
      divergenceDepth(base.key, changeAt(changes, from).key, depth),
      divergenceDepth(base.key, changeAt(changes, until - 1).key, depth),
    );
    if (divergence === base.until) {
      const below = this.approach(base.branch, divergence, changes, from, until);
      assert(below?.kind === "pending", "an extension leads to a branch");
      return { ...below, leadFrom: depth, leadKey: base.key };
    }
    const frame = this.frame(divergence);
    frame.clear();
    const nibble = nibbleAt(base.key, divergence);
    if (divergence + 1 === base.until) frame.setStored(nibble, base.branch);
    else frame.fresh[nibble] = base;
    return {
      kind: "pending",
      frame,
      depth: divergence,
      changes,
      from,
      until,
      leadFrom: depth,
      leadKey: base.key,
    };
  }

  /** Builds a subtree of the values in changes[from..until), where no old node stays. */
  private grow(
    depth: number,
    changes: readonly TrieChange[],
    from: number,
    until: number,
  ): PendingBranch | OpenNode | undefined {
    let start = from;
    while (start < until && changeAt(changes, start).value === undefined) start++;
    let end = until;
    while (end > start && changeAt(changes, end - 1).value === undefined) end--;
    if (start === end) return undefined;
    const { key, value, storage } = changeAt(changes, start);
    if (end - start === 1)
      return { kind: "leaf", key, value: expectDefined(value, "a value to grow"), storage };
    const divergence = divergenceDepth(key, changeAt(changes, end - 1).key, depth);
    const frame = this.frame(divergence);
    frame.clear();
    return {
      kind: "pending",
      frame,
      depth: divergence,
      changes,
      from: start,
      until: end,
      leadFrom: depth,
      leadKey: key,
    };
  }

  private changeBranch(pending: PendingBranch): OpenNode | undefined {
    const { frame, depth, changes, from, until } = pending;
    const base = this.stack.length;
    for (let at = from; at < until; ) {
      const nibble = nibbleAt(changeAt(changes, at).key, depth);
      const end = endOfNibble(changes, at, until, depth);
      setChild(frame, nibble, this.change(childToChange(frame, nibble), depth + 1, changes, at, end));
      at = end;
    }
    return this.leave(pending, base);
  }

  private *changeBranchInSteps(pending: PendingBranch): Steps<OpenNode | undefined> {
    const { frame, depth, changes, from, until } = pending;
    const base = this.stack.length;
    for (let at = from; at < until; ) {
      const nibble = nibbleAt(changeAt(changes, at).key, depth);
      const end = endOfNibble(changes, at, until, depth);
      const below = childToChange(frame, nibble);
      if (end - at > STEP_CHANGES)
        setChild(frame, nibble, yield* this.changeInSteps(below, depth + 1, changes, at, end));
      else {
        setChild(frame, nibble, this.change(below, depth + 1, changes, at, end));
        yield;
      }
      at = end;
    }
    return this.leave(pending, base);
  }

  private leave(pending: PendingBranch, base: number): OpenNode | undefined {
    const { frame, depth, changes, from, leadFrom, leadKey } = pending;
    const node = this.closeBranch(frame, depth, changeAt(changes, from).key, base);
    return this.lead(node, leadFrom, depth, leadKey);
  }

  /** Encodes the branch, unless it has fewer than two children left. Their nodes are on the stack from `base` up. */
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
  private lead(
    node: OpenNode | undefined,
    depth: number,
    divergence: number,
    key: Uint8Array,
  ): OpenNode | undefined {
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

  private frame(depth: number): BranchFrame {
    let frame = this.frames[depth];
    if (frame === undefined) {
      frame = new BranchFrame();
      this.frames[depth] = frame;
    }
    return frame;
  }
}

/** End of the changes below the same child of the branch at `depth` as changes[at]. */
function endOfNibble(changes: readonly TrieChange[], at: number, until: number, depth: number): number {
  const nibble = nibbleAt(changeAt(changes, at).key, depth);
  let end = at + 1;
  while (end < until && nibbleAt(changeAt(changes, end).key, depth) === nibble) end++;
  return end;
}

function childToChange(frame: BranchFrame, nibble: number): Base {
  const below = frame.fresh[nibble];
  assert(below?.kind !== "built", "a child is changed once");
  return below ?? frame.child(nibble);
}

function setChild(frame: BranchFrame, nibble: number, child: OpenNode | undefined): void {
  frame.fresh[nibble] = child;
  if (child === undefined) frame.remove(nibble);
}

function changeAt(changes: readonly TrieChange[], at: number): TrieChange {
  return expectDefined(changes[at], "a change");
}
