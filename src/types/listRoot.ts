import { EMPTY_TRIE_ROOT, type Hash, keccak256, keccak256InSteps } from "../primitives/hash.ts";
import {
  encodeRlpList,
  encodeRlpString,
  rlpPrefix,
  rlpStringSize,
  writeRlpListPrefix,
  writeRlpString,
} from "../primitives/rlp.ts";
import { atOnce, STEP_BYTES, StepMeter, type Steps } from "../primitives/steps.ts";
import { STEP_LOGS } from "./bloom.ts";
import { type BareReceipt, encodeReceipt, encodeReceiptInSteps, LOG_STEP_BYTES } from "./receipt.ts";

/**
 * Root of the Merkle-Patricia trie that maps RLP(index) to each value: the transactionsRoot and receiptsRoot of a
 * header (yellow paper §4.3). The keys are known in advance, so the trie is built in one pass from its sorted leaves and
 * each node is hashed once: some 2 µs per entry, where inserting entries one by one costs about 100.
 */
export function rootOfList(values: readonly Uint8Array[]): Hash {
  return atOnce(rootOfListInSteps(values));
}

export function* rootOfListInSteps(values: readonly Uint8Array[]): Steps<Hash> {
  if (values.length === 0) return EMPTY_TRIE_ROOT;
  const trie = new ListTrie(values);
  const { length } = values;
  return trie.isLong(0, length) ? yield* trie.hashLongNode(0, length, 0) : trie.hashNode(0, length, 0);
}

/** The receiptsRoot of a block. */
export function* rootOfReceiptsInSteps(receipts: readonly BareReceipt[]): Steps<Hash> {
  const values: Uint8Array[] = [];
  const meter = new StepMeter();
  for (const receipt of receipts) {
    const bytes = stepBytesOfReceipt(receipt);
    const isLong = bytes > STEP_BYTES;
    values.push(isLong ? yield* encodeReceiptInSteps(receipt, meter) : encodeReceipt(receipt));
    if (meter.isFull(isLong ? RECEIPT_STEP_BYTES : bytes)) yield;
  }
  return yield* rootOfListInSteps(values);
}

/** What encoding a receipt adds to a step (StepMeter); more than a whole step when its logs alone fill one. */
function stepBytesOfReceipt({ logs }: BareReceipt): number {
  if (logs.length > STEP_LOGS) return Number.POSITIVE_INFINITY;
  let bytes = RECEIPT_STEP_BYTES;
  for (const { data } of logs) bytes += LOG_STEP_BYTES + data.length;
  return bytes;
}

/**
 * The transactionsRoot of a body. The root is cached by list, because a proposal is compared with its header when it is
 * decoded and again when it is validated.
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
/** What a receipt without logs adds to a step that encodes it. */
const RECEIPT_STEP_BYTES = STEP_BYTES / STEP_LEAVES;
const HASH_STEP_BYTES = 64 * 1024;

/** Nibbles of the longest key: a prefix and three bytes. */
const LONGEST_PATH = 8;
/** Sixteen references of at most 33 bytes, and an empty value. */
const LONGEST_BRANCH = 16 * 33 + 1;
const EMPTY_ITEM = Uint8Array.of(0x80);

/**
 * The last written node, and the items of a branch at each depth. All tries share them, because every use is synchronous:
 * objects for each of ten thousand leaves would cost more than their hashes.
 */
const node = new Uint8Array(HASH_STEP_BYTES + 2 * LONGEST_BRANCH);
const branches = Array.from({ length: LONGEST_PATH }, () => new Uint8Array(LONGEST_BRANCH));

/** The trie of a list. Its leaves are in the order of their keys: index 0 has the key 0x80, after those of 1 to 127. */
class ListTrie {
  private readonly values: readonly Uint8Array[];

  constructor(values: readonly Uint8Array[]) {
    this.values = values;
  }

  /** Whether the nodes over leaves[from..until) take more than one step. */
  isLong(from: number, until: number): boolean {
    if (until - from > STEP_LEAVES) return true;
    let bytes = 0;
    for (let leaf = from; leaf < until; leaf++) bytes += this.valueAt(leaf).length;
    return bytes > HASH_STEP_BYTES;
  }

  /** The hash of the node over leaves[from..until), whose paths agree in their first `depth` nibbles. */
  hashNode(from: number, until: number, depth: number): Hash {
    return keccak256(node.subarray(0, this.write(from, until, depth)));
  }

  /** Like hashNode, in steps and without copying a long value. */
  *hashLongNode(from: number, until: number, depth: number): Steps<Hash> {
    if (until - from === 1) return yield* this.hashLongLeaf(from, depth);
    const shared = this.sharedDepth(from, until - 1, depth);
    const items: Uint8Array[] = [];
    let start = from;
    for (let nibble = 0; nibble < 16; nibble++) {
      const end = this.endOfNibble(start, until, shared, nibble);
      if (start === end) items.push(EMPTY_ITEM);
      else if (this.isLong(start, end))
        items.push(encodeRlpString(yield* this.hashLongNode(start, end, shared + 1)));
      else {
        const reference = new Uint8Array(REFERENCE_BYTES);
        const length = writeReference(reference, 0, this.write(start, end, shared + 1));
        items.push(reference.subarray(0, length));
      }
      if (start < end) yield;
      start = end;
    }
    const branch = encodeRlpList([...items, EMPTY_ITEM]);
    if (shared === depth) return keccak256(branch);
    node.set(branch);
    return keccak256(node.subarray(0, this.writeExtension(from, depth, shared, branch.length)));
  }

  private *hashLongLeaf(leaf: number, depth: number): Steps<Hash> {
    const value = this.valueAt(leaf);
    const pathLength = this.writePath(0, leaf, depth, this.pathLength(leaf), LEAF);
    const path = node.slice(0, pathLength);
    const valuePrefix = rlpPrefix(value.length, 0x80);
    const listPrefix = rlpPrefix(pathLength + valuePrefix.length + value.length, 0xc0);
    return yield* keccak256InSteps([listPrefix, path, valuePrefix, value]);
  }

  /** Writes the node over leaves[from..until) to `node`; returns its length. */
  private write(from: number, until: number, depth: number): number {
    if (until - from === 1) return this.writeLeaf(from, depth);
    const shared = this.sharedDepth(from, until - 1, depth);
    const length = this.writeBranch(from, until, shared);
    return shared === depth ? length : this.writeExtension(from, depth, shared, length);
  }

  private writeLeaf(leaf: number, depth: number): number {
    const value = this.valueAt(leaf);
    const until = this.pathLength(leaf);
    const at = writeRlpListPrefix(node, 0, pathSize(until - depth) + rlpStringSize(value));
    return writeRlpString(node, this.writePath(at, leaf, depth, until, LEAF), value);
  }

  /** No RLP key is a prefix of another, so branches have no values. */
  private writeBranch(from: number, until: number, depth: number): number {
    const items = branches[depth] as Uint8Array;
    let length = 0;
    let start = from;
    for (let nibble = 0; nibble < 16; nibble++) {
      const end = this.endOfNibble(start, until, depth, nibble);
      if (start === end) items[length++] = 0x80;
      else length = writeReference(items, length, this.write(start, end, depth + 1));
      start = end;
    }
    items[length++] = 0x80;
    const at = writeRlpListPrefix(node, 0, length);
    node.set(items.subarray(0, length), at);
    return at + length;
  }

  /** Replaces the branch in `node` by an extension to it along the leaf's path[from..until). */
  private writeExtension(leaf: number, from: number, until: number, branchLength: number): number {
    const reference = new Uint8Array(REFERENCE_BYTES);
    const length = writeReference(reference, 0, branchLength);
    const at = writeRlpListPrefix(node, 0, pathSize(until - from) + length);
    const end = this.writePath(at, leaf, from, until, EXTENSION);
    node.set(reference.subarray(0, length), end);
    return end + length;
  }

  /** Writes the hex-prefix encoding of path[from..until) (yellow paper, appendix C) as RLP; returns the index after it. */
  private writePath(start: number, leaf: number, from: number, until: number, kind: number): number {
    const index = this.indexOf(leaf);
    const length = until - from;
    const isOdd = length % 2 === 1;
    let at = start;
    if (length > 1) node[at++] = 0x80 + (length >> 1) + 1;
    node[at++] = kind | (isOdd ? 0x10 | nibbleAt(index, from) : 0);
    for (let depth = from + (isOdd ? 1 : 0); depth < until; depth += 2)
      node[at++] = (nibbleAt(index, depth) << 4) | nibbleAt(index, depth + 1);
    return at;
  }

  private endOfNibble(from: number, until: number, depth: number, nibble: number): number {
    let end = from;
    while (end < until && nibbleAt(this.indexOf(end), depth) === nibble) end++;
    return end;
  }

  private sharedDepth(first: number, last: number, depth: number): number {
    const [a, b] = [this.indexOf(first), this.indexOf(last)];
    let shared = depth;
    while (shared < LONGEST_PATH && nibbleAt(a, shared) === nibbleAt(b, shared)) shared++;
    return shared;
  }

  private pathLength(leaf: number): number {
    return 2 * keySize(this.indexOf(leaf));
  }

  private valueAt(leaf: number): Uint8Array {
    const value = this.values[this.indexOf(leaf)];
    if (value === undefined) throw new RangeError(`no leaf ${leaf}`);
    return value;
  }

  /** Index in the list of the leaf with this rank among the keys. */
  private indexOf(leaf: number): number {
    const afterZero = Math.min(127, this.values.length - 1);
    if (leaf > afterZero) return leaf;
    return leaf === afterZero ? 0 : leaf + 1;
  }
}

/** Bytes of the key, RLP of the index. */
function keySize(index: number): number {
  return index < 0x80 ? 1 : index < 0x100 ? 2 : index < 0x10000 ? 3 : 4;
}

/** A nibble of the key: below 128 the index itself, with 0x80 for 0; then 0x80 and its length before it. */
function nibbleAt(index: number, depth: number): number {
  if (index < 0x80) {
    const key = index === 0 ? 0x80 : index;
    return depth === 0 ? key >> 4 : key & 15;
  }
  const size = keySize(index);
  if (depth < 2) return depth === 0 ? 8 : size - 1;
  return (index >> (4 * (2 * size - 1 - depth))) & 15;
}

/** Flags of the hex-prefix encoding. */
const LEAF = 0x20;
const EXTENSION = 0;
const REFERENCE_BYTES = 33;

/** Writes a parent's reference to the node of this length in `node`: its hash, or itself when shorter than a hash. */
function writeReference(into: Uint8Array, at: number, length: number): number {
  const written = node.subarray(0, length);
  if (length < 32) {
    into.set(written, at);
    return at + length;
  }
  into[at] = 0xa0;
  into.set(keccak256(written), at + 1);
  return at + 33;
}

/** Size of a path of so many nibbles, hex-prefix encoded, as RLP: a single byte stands for itself. */
function pathSize(nibbles: number): number {
  return nibbles < 2 ? 1 : 2 + (nibbles >> 1);
}
