import { expectDefined } from "../../src/primitives/assert.ts";
import { concatBytes } from "../../src/primitives/hex.ts";
import { encodeRlpList, encodeRlpString, readRlp, readRlpList } from "../../src/primitives/rlp.ts";

/**
 * One change to an RLP encoding, for every possible position: items longer, shorter, absent, doubled,
 * lists for strings and strings for lists, and equivalent but non-canonical encodings.
 */
export interface RlpMutation {
  /** Position, as indexes from the outermost list inwards, including typed transactions and extra data. */
  readonly path: readonly number[];
  readonly kind: string;
  readonly bytes: Uint8Array;
}

/** An item with its members, and how to encode it around other members. */
export interface RlpNode {
  readonly raw: Uint8Array;
  readonly path: readonly number[];
  /** The contents of a string; of a list, the concatenated members. */
  readonly payload: Uint8Array;
  readonly isList: boolean;
  readonly members: readonly RlpNode[];
  /** Encodes the item around these encoded members. */
  readonly around: (members: readonly Uint8Array[]) => Uint8Array;
}

/** `opens` tells which byte strings contain RLP, and after how many other bytes it begins. */
export type OpensString = (path: readonly number[], payload: Uint8Array) => number | undefined;

export const opensNothing: OpensString = () => undefined;

/** Typed transactions and the header's extra data, in a whole block. */
export const opensBlockStrings: OpensString = (path, payload) => {
  const [part, index] = path;
  if (path.length !== 2) return undefined;
  if (part === 0 && index === EXTRA_DATA) return isOneList(payload) ? 0 : undefined;
  return part === 1 && isOneList(payload.subarray(1)) ? 1 : undefined;
};

const EXTRA_DATA = 12;

export function nodeOf(
  raw: Uint8Array,
  opens: OpensString = opensNothing,
  path: readonly number[] = [],
): RlpNode {
  if ((raw[0] ?? 0) >= 0xc0) return listNode(raw, path, encodeRlpList, opens);
  const payload = readRlp(raw, 0) as Uint8Array;
  const lead = opens(path, payload);
  if (lead === undefined) return { raw, path, payload, isList: false, members: [], around: () => raw };
  const inner = listNode(
    payload.subarray(lead),
    path,
    (members) => encodeRlpString(concatBytes(payload.subarray(0, lead), encodeRlpList(members))),
    opens,
  );
  return { ...inner, raw, payload, isList: false };
}

function listNode(
  raw: Uint8Array,
  path: readonly number[],
  around: RlpNode["around"],
  opens: OpensString,
): RlpNode {
  const members = readRlpList(raw).map(({ start, until }, index) =>
    nodeOf(raw.subarray(start, until), opens, [...path, index]),
  );
  const payload = concatBytes(...members.map((member) => member.raw));
  return { raw, path, payload, isList: true, members, around };
}

/** Every item of a tree, the outermost first. */
export function* nodesOf(node: RlpNode): Generator<RlpNode> {
  yield node;
  for (const member of node.members) yield* nodesOf(member);
}

/** The whole encoding with one item replaced by any number of encoded items. */
export function withReplaced(
  root: RlpNode,
  path: readonly number[],
  replacement: readonly Uint8Array[],
): Uint8Array {
  const [first, ...rest] = path;
  if (first === undefined) return concatBytes(...replacement);
  return root.around(
    root.members.flatMap((member, index) => {
      if (index !== first) return [member.raw];
      return rest.length === 0 ? [...replacement] : [withReplaced(member, rest, replacement)];
    }),
  );
}

/** The mutations of one item: the encoded items that replace it. */
export function replacementsFor(
  node: RlpNode,
  below: (limit: number) => number,
): readonly (readonly [kind: string, replacement: readonly Uint8Array[]])[] {
  const { raw, payload } = node;
  const flipped = Uint8Array.from(payload);
  if (flipped.length > 0) {
    const at = below(flipped.length);
    flipped[at] = expectDefined(flipped[at], "a byte") ^ (1 << below(8));
  }
  const asKind = (bytes: Uint8Array): Uint8Array =>
    node.isList ? encodeRlpList([bytes]) : encodeRlpString(bytes);
  return [
    ["removed", []],
    ["doubled", [raw, raw]],
    ["emptied", [asKind(new Uint8Array(0))]],
    ["in a list of its own", [encodeRlpList([raw])]],
    ["the other kind", [node.isList ? encodeRlpString(payload) : encodeRlpList([payload])]],
    ["a zero before it", [asKind(concatBytes(Uint8Array.of(0), payload))]],
    ["a zero after it", [asKind(concatBytes(payload, Uint8Array.of(0)))]],
    ["a byte less", [asKind(payload.subarray(0, Math.max(0, payload.length - 1)))]],
    ["a bit flipped", [asKind(flipped)]],
    ["its length in a longer form", [longForm(payload, node.isList)]],
    ["its length with a leading zero", [paddedLongForm(payload, node.isList)]],
    [
      "one byte with a prefix",
      payload.length === 1 && !node.isList ? [concatBytes(Uint8Array.of(0x81), payload)] : [raw],
    ],
    ["an empty string added", [raw, Uint8Array.of(0x80)]],
  ];
}

/** All mutations of `bytes`, without those that change nothing. */
export function* rlpMutations(
  bytes: Uint8Array,
  opens: OpensString,
  below: (limit: number) => number,
): Generator<RlpMutation> {
  const root = nodeOf(bytes, opens);
  for (const node of nodesOf(root))
    for (const [kind, replacement] of replacementsFor(node, below)) {
      const mutated = withReplaced(root, node.path, replacement);
      if (Buffer.compare(mutated, bytes) !== 0) yield { path: node.path, kind, bytes: mutated };
    }
}

function lengthDigits(length: number): Uint8Array {
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return Uint8Array.from(digits.length === 0 ? [0] : digits);
}

function longForm(payload: Uint8Array, isList: boolean): Uint8Array {
  const digits = lengthDigits(payload.length);
  return concatBytes(Uint8Array.of((isList ? 0xf7 : 0xb7) + digits.length), digits, payload);
}

function paddedLongForm(payload: Uint8Array, isList: boolean): Uint8Array {
  const digits = lengthDigits(payload.length);
  return concatBytes(Uint8Array.of((isList ? 0xf7 : 0xb7) + digits.length + 1, 0), digits, payload);
}

function isOneList(bytes: Uint8Array): boolean {
  try {
    return (bytes[0] ?? 0) >= 0xc0 && readRlpList(bytes).length > 0;
  } catch {
    return false;
  }
}
