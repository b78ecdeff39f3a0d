import { assert, expectDefined } from "../../primitives/assert.ts";
import { compareBytes } from "../../primitives/hex.ts";
import type { Steps } from "../../primitives/steps.ts";
import { BranchFrame } from "./branchFrame.ts";
import { divergenceDepth, nibbleAt } from "./nibbles.ts";
import type { ExtensionNode, LeafNode, OpenNode } from "./openNode.ts";
import { openBranch, readLeaf, takeApart } from "./openStored.ts";
import { PageBuilder, type TrieUpdate } from "./pageBuilder.ts";
import { rootNode, type StoragePointer, type StoredNode } from "./storedNode.ts";
import { isEmptyTrie, type TrieRoot } from "./trieRoot.ts";

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

/**
 * Applies changes, sorted by key and without duplicates, to the trie of `root`: reads each node on the paths once,
 * encodes and hashes each new node once, and hands new pages to the sink. The root's page begins at depth 0.
 */
export function updateTrie(update: TrieUpdate, root: TrieRoot, changes: readonly TrieChange[]): TrieRoot {
  const first = changes[0];
  if (first === undefined) return root;
  const updater = new Updater(update);
  const open = updater.change(baseOf(root), 0, changes, 0, changes.length);
  return updater.builder.seal(open, first.key);
}

/** Like updateTrie, for any number of changes. All versions reachable from the root must stay readable until the end. */
export function* updateTrieInSteps(
  update: TrieUpdate,
  root: TrieRoot,
  changes: readonly TrieChange[],
): Steps<TrieRoot> {
  if (changes.length <= STEP_CHANGES) return updateTrie(update, root, changes);
  const updater = new Updater(update);
  const open = yield* updater.changeInSteps(baseOf(root), 0, changes, 0, changes.length);
  return updater.builder.seal(open, changeAt(changes, 0).key);
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
  readonly builder: PageBuilder;
  private readonly frames: BranchFrame[] = [];

  constructor(update: TrieUpdate) {
    this.update = update;
    this.builder = new PageBuilder(update);
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

  /** Like `change`, in steps. Between two steps it holds no view into cache memory, which other work may reuse meanwhile. */
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
    const base = this.builder.length;
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
    const base = this.builder.length;
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
    const node = this.builder.closeBranch(frame, depth, changeAt(changes, from).key, base);
    return this.builder.lead(node, leadFrom, depth, leadKey);
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
