import { assert, expectDefined } from "../../primitives/assert.ts";
import { triePageKey } from "../../storage/stateKeys.ts";
import type { BranchFrame } from "./branchFrame.ts";
import { withNibble } from "./nibbles.ts";
import type { BuiltNode } from "./openNode.ts";
import { PAGE_LIMIT, type PageSink, type PageStack } from "./pageStack.ts";
import { SAME_PAGE } from "./storedNode.ts";

/** A branch to be written at the first `depth` nibbles of `key`; its new nodes are on the stack from `base` up. */
interface ClosingBranch {
  readonly version: number;
  readonly trieId: number;
  readonly key: Uint8Array;
  readonly depth: number;
  readonly base: number;
  /** Length of its own record. */
  readonly recordLength: number;
}

/**
 * Assigns locations to the new children in `frame`, all of them built, so that those left on the stack and the branch's
 * own record fit into one page: seals the largest into pages of their own until the rest fits.
 */
export function placeChildren(
  stack: PageStack,
  frame: BranchFrame,
  branch: ClosingBranch,
  sink: PageSink,
): void {
  if (stack.length - branch.base + branch.recordLength > PAGE_LIMIT) sealLargest(stack, frame, branch, sink);
  for (let nibble = 0; nibble < 16; nibble++) {
    const child = frame.fresh[nibble];
    if (child?.kind !== "built" || child.end === child.start) continue;
    frame.setPlace(nibble, branch.version, SAME_PAGE, stack.length - child.record);
  }
}

function sealLargest(stack: PageStack, frame: BranchFrame, branch: ClosingBranch, sink: PageSink): void {
  const { version, trieId, depth, base } = branch;
  const kept = builtChildren(frame).sort((a, b) => sizeOf(a.node) - sizeOf(b.node));
  let total = stack.length - base + branch.recordLength;
  while (total > PAGE_LIMIT && kept.length > 0) {
    const { nibble, node } = expectDefined(kept.pop(), "a child to seal off");
    stack.seal(node, triePageKey(version, trieId, withNibble(branch.key, depth, nibble), depth + 1), sink);
    frame.setPlace(nibble, version, depth + 1, node.record - node.start);
    frame.fresh[nibble] = undefined;
    total -= sizeOf(node);
  }
  stack.length = base;
  for (const { node } of kept.sort((a, b) => a.node.start - b.node.start)) {
    stack.moveDown(node, stack.length);
    stack.length = node.end;
  }
}

function builtChildren(frame: BranchFrame): { readonly nibble: number; readonly node: BuiltNode }[] {
  const children: { nibble: number; node: BuiltNode }[] = [];
  for (const [nibble, node] of frame.fresh.entries()) {
    if (node === undefined) continue;
    assert(node.kind === "built", "children are built before they are placed");
    if (sizeOf(node) > 0) children.push({ nibble, node });
  }
  return children;
}

function sizeOf(node: BuiltNode): number {
  return node.end - node.start;
}
