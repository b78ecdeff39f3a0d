import fc from "fast-check";
import { concatBytes } from "../../src/primitives/hex.ts";
import {
  nodeOf,
  nodesOf,
  type OpensString,
  replacementsFor,
  withReplaced,
} from "../builders/rlpMutations.ts";
import { createChance } from "../rpc/mutations.ts";

/** Position and kind of a change, as plain numbers that fast-check can shrink. */
interface Change {
  readonly isStructural: boolean;
  readonly at: number;
  readonly kind: number;
  readonly noise: number;
}

const change: fc.Arbitrary<Change> = fc.record({
  isStructural: fc.boolean(),
  at: fc.nat(1_000_000),
  kind: fc.nat(1_000),
  noise: fc.nat(2 ** 31),
});

/** Mostly none or one: an input with many changes is refused at the first. */
const changes = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Change[]>([]) },
  { weight: 7, arbitrary: fc.array(change, { minLength: 1, maxLength: 1 }) },
  { weight: 2, arbitrary: fc.array(change, { minLength: 2, maxLength: 4 }) },
);

/** RLP with up to four changes: to its items, or to arbitrary bytes. */
export function mutatedRlp(base: fc.Arbitrary<Uint8Array>, opens: OpensString): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(base, changes)
    .map(([bytes, all]) => all.reduce((each, one) => changeRlp(each, one, opens), bytes));
}

/** Text with up to four changes; `inserts` are inserted besides tokens of the text itself. */
export function mutatedText(base: fc.Arbitrary<string>, inserts: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(base, changes)
    .map(([text, all]) => all.reduce((each, one) => changeText(each, one, inserts), text));
}

function changeRlp(bytes: Uint8Array, one: Change, opens: OpensString): Uint8Array {
  if (!one.isStructural) return changeBytes(bytes, one);
  try {
    const root = nodeOf(bytes, opens);
    const nodes = [...nodesOf(root)];
    const node = nodes[one.at % nodes.length];
    if (node === undefined) return bytes;
    const replacements = replacementsFor(node, createChance(one.noise).below);
    const [, replacement] = replacements[one.kind % replacements.length] ?? ["", [node.raw]];
    return withReplaced(root, node.path, replacement);
  } catch {
    // An earlier change has made it invalid RLP.
    return changeBytes(bytes, one);
  }
}

function changeBytes(bytes: Uint8Array, { at, kind, noise }: Change): Uint8Array {
  const place = at % (bytes.length + 1);
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
  const noiseByte = Uint8Array.of(noise & 0xff);
  switch (kind % 7) {
    case 0:
      return before;
    case 1:
      return concatBytes(before, noiseByte, after);
    case 2:
      return concatBytes(before, after.subarray(1));
    case 3:
      return concatBytes(before, after.subarray(0, 1 + (noise % 40)), after);
    case 4:
      return concatBytes(before, after.subarray(1 + (noise % 40)));
    case 5:
      return concatBytes(before, noiseByte, after.subarray(1));
    default:
      return bytes.map((byte, index) => (index === place ? byte ^ (1 << (noise % 8)) : byte));
  }
}

/** Tokens of JSON and TOML between brackets and commas. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"|[+-]?\d[\w.]*|[a-z][\w-]*/g;

/**
 * Replaces a whole token, key or value, by another one of the text, or by an insert in quotes: mostly the syntax stays
 * valid.
 */
function changeToken(text: string, { at, kind, noise }: Change, inserts: readonly string[]): string {
  const tokens = [...text.matchAll(TOKEN)];
  const [old, other] = [tokens[at % tokens.length], tokens[noise % tokens.length]];
  if (old === undefined || other === undefined) return text;
  const insert = inserts[noise % inserts.length] ?? "";
  const replacement = kind % 3 === 0 ? other[0] : kind % 3 === 1 ? JSON.stringify(insert) : insert;
  return text.slice(0, old.index) + replacement + text.slice(old.index + old[0].length);
}

function changeText(text: string, one: Change, inserts: readonly string[]): string {
  if (one.isStructural) return changeToken(text, one, inserts);
  const { at, kind, noise } = one;
  const place = at % (text.length + 1);
  const [before, after] = [text.slice(0, place), text.slice(place)];
  const insert = inserts[noise % inserts.length] ?? "";
  switch (kind % 7) {
    case 0:
      return before;
    case 1:
      return before + insert + after;
    case 2:
      return before + after.slice(1);
    case 3:
      return before + after.slice(0, 1 + (noise % 60)) + after;
    case 4:
      return before + after.slice(1 + (noise % 60));
    case 5:
      return before + String.fromCharCode(noise % 0x250) + after.slice(1);
    default:
      return before + insert + after.slice(1 + (noise % 8));
  }
}
