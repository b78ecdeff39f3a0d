import { EMPTY_TRIE_ROOT, type Hash, keccak256, keccak256InSteps } from "../primitives/hash.ts";
import { encodeRlpIndex, encodeRlpList, encodeRlpString, rlpPrefix } from "../primitives/rlp.ts";
import { atOnce, type Steps } from "../primitives/steps.ts";
import { STEP_LOGS } from "./bloom.ts";
import { type BareReceipt, encodeReceiptInSteps } from "./receipt.ts";

/**
 * Root of the Merkle-Patricia trie that maps RLP(index) to each value: the transactionsRoot and receiptsRoot of a
 * header (yellow paper §4.3). The keys are known in advance, so the trie is built in one pass from its sorted leaves and
 * each node is hashed once: some 3 µs per entry, where inserting entries one by one costs about 100.
 */
export function rootOfList(values: readonly Uint8Array[]): Hash {
  return atOnce(rootOfListInSteps(values));
}

export function* rootOfListInSteps(values: readonly Uint8Array[]): Steps<Hash> {
  if (values.length === 0) return EMPTY_TRIE_ROOT;
  const leaves: Leaf[] = [];
  const add = (index: number): void => {
    const value = values[index];
    if (value !== undefined) leaves.push({ path: nibblesOfIndex(index), value });
  };
  // In order of keys: index 0 has the key 0x80, which comes after those of 1 to 127.
  for (let index = 1; index < 128; index++) add(index);
  add(0);
  for (let index = 128; index < values.length; index++) {
    if (index % STEP_LEAVES === 0) yield;
    add(index);
  }
  if (!isLong(leaves, 0, leaves.length)) return keccak256(encodeNode(leaves, 0, leaves.length, 0));
  return yield* hashLongNode(leaves, 0, leaves.length, 0);
}

/** The receiptsRoot of a block. */
export function* rootOfReceiptsInSteps(receipts: readonly BareReceipt[]): Steps<Hash> {
  const values: Uint8Array[] = [];
  let logs = 0;
  for (const receipt of receipts) {
    values.push(yield* encodeReceiptInSteps(receipt));
    logs += receipt.logs.length;
    if (values.length % STEP_LEAVES !== 0 && logs < STEP_LOGS) continue;
    logs = 0;
    yield;
  }
  return yield* rootOfListInSteps(values);
}

/**
 * The transactionsRoot of a body. Cached by list, because a proposal is compared with its header when it is decoded and again
 * when it is validated.
 */
export function* rootOfTransactionsInSteps(
  transactions: readonly { readonly raw: Uint8Array }[],
): Steps<Hash> {
  const known = transactionRoots.get(transactions);
  if (known !== undefined) return known;
  const root = yield* rootOfListInSteps(transactions.map(({ raw }) => raw));
  transactionRoots.set(transactions, root);
  return root;
}

const transactionRoots = new WeakMap<readonly unknown[], Hash>();

/** Bounds of one step, in leaves and in bytes: some 0.3 ms each. */
const STEP_LEAVES = 64;
const STEP_BYTES = 64 * 1024;

interface Leaf {
  /** Nibbles of RLP(index). */
  readonly path: Uint8Array;
  readonly value: Uint8Array;
}

const EMPTY_ITEM = Uint8Array.of(0x80);

/** RLP of the node above leaves[from..until), whose paths agree in their first `depth` nibbles. */
function encodeNode(leaves: readonly Leaf[], from: number, until: number, depth: number): Uint8Array {
  const first = leafAt(leaves, from);
  if (until - from === 1) {
    return encodeRlpList([
      encodeRlpString(compactPath(first.path, depth, first.path.length, true)),
      encodeRlpString(first.value),
    ]);
  }
  const shared = sharedDepth(first.path, leafAt(leaves, until - 1).path, depth);
  const branch = encodeBranch(leaves, from, until, shared);
  return shared === depth ? branch : encodeExtension(first.path, depth, shared, branch);
}

/** RLP of an extension node along path[from..until) to a branch. */
function encodeExtension(path: Uint8Array, from: number, until: number, branch: Uint8Array): Uint8Array {
  return encodeRlpList([encodeRlpString(compactPath(path, from, until, false)), reference(branch)]);
}

/** No RLP key is a prefix of another, so branches have no values. */
function encodeBranch(leaves: readonly Leaf[], from: number, until: number, depth: number): Uint8Array {
  const items = childrenOf(leaves, from, until, depth).map(({ start, end }) =>
    end === start ? EMPTY_ITEM : reference(encodeNode(leaves, start, end, depth + 1)),
  );
  return encodeRlpList([...items, EMPTY_ITEM]);
}

/** The leaves below each of the sixteen children of a branch. */
function childrenOf(
  leaves: readonly Leaf[],
  from: number,
  until: number,
  depth: number,
): { readonly start: number; readonly end: number }[] {
  const children: { start: number; end: number }[] = [];
  let start = from;
  for (let nibble = 0; nibble < 16; nibble++) {
    let end = start;
    while (end < until && leafAt(leaves, end).path[depth] === nibble) end++;
    children.push({ start, end });
    start = end;
  }
  return children;
}

/** Whether the nodes over leaves[from..until) take more than one step. */
function isLong(leaves: readonly Leaf[], from: number, until: number): boolean {
  if (until - from > STEP_LEAVES) return true;
  let bytes = 0;
  for (let at = from; at < until; at++) bytes += leafAt(leaves, at).value.length;
  return bytes > STEP_BYTES;
}

/** The hash of encodeNode's result, in steps and without copying a long value. */
function* hashLongNode(leaves: readonly Leaf[], from: number, until: number, depth: number): Steps<Hash> {
  const { path, value } = leafAt(leaves, from);
  if (until - from === 1) {
    const ownPath = encodeRlpString(compactPath(path, depth, path.length, true));
    const valuePrefix = rlpPrefix(value.length, 0x80);
    const listPrefix = rlpPrefix(ownPath.length + valuePrefix.length + value.length, 0xc0);
    return yield* keccak256InSteps([listPrefix, ownPath, valuePrefix, value]);
  }
  const shared = sharedDepth(path, leafAt(leaves, until - 1).path, depth);
  const items: Uint8Array[] = [];
  for (const { start, end } of childrenOf(leaves, from, until, shared)) {
    if (start === end) items.push(EMPTY_ITEM);
    else if (isLong(leaves, start, end))
      items.push(encodeRlpString(yield* hashLongNode(leaves, start, end, shared + 1)));
    else items.push(reference(encodeNode(leaves, start, end, shared + 1)));
    if (start < end) yield;
  }
  const branch = encodeRlpList([...items, EMPTY_ITEM]);
  return keccak256(shared === depth ? branch : encodeExtension(path, depth, shared, branch));
}

/** A parent's reference to a child: its hash, or the child itself when shorter than a hash. */
function reference(node: Uint8Array): Uint8Array {
  return node.length < 32 ? node : encodeRlpString(keccak256(node));
}

/** Hex-prefix encoding of the nibbles path[from..until) (yellow paper, appendix C). */
function compactPath(path: Uint8Array, from: number, until: number, isLeaf: boolean): Uint8Array {
  const length = until - from;
  const isOdd = length % 2 === 1;
  const bytes = new Uint8Array((length >> 1) + 1);
  bytes[0] = (isLeaf ? 0x20 : 0) | (isOdd ? 0x10 | (path[from] ?? 0) : 0);
  for (let at = from + (isOdd ? 1 : 0), out = 1; at < until; at += 2, out++) {
    bytes[out] = ((path[at] ?? 0) << 4) | (path[at + 1] ?? 0);
  }
  return bytes;
}

function nibblesOfIndex(index: number): Uint8Array {
  const key = encodeRlpIndex(index);
  const path = new Uint8Array(key.length * 2);
  for (let at = 0; at < path.length; at++) {
    const byte = key[at >> 1] ?? 0;
    path[at] = at % 2 === 0 ? byte >> 4 : byte & 15;
  }
  return path;
}

function sharedDepth(a: Uint8Array, b: Uint8Array, depth: number): number {
  let shared = depth;
  while (shared < a.length && a[shared] === b[shared]) shared++;
  return shared;
}

function leafAt(leaves: readonly Leaf[], index: number): Leaf {
  const leaf = leaves[index];
  if (leaf === undefined) throw new RangeError(`no leaf ${index}`);
  return leaf;
}
