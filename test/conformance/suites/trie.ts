import { AssertionFailed } from "../../../src/primitives/assert.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { parseHex, toDigits, toHex } from "../../../src/primitives/hex.ts";
import { trieLeaves } from "../../../src/state/trie/trieLeaves.ts";
import { bytesOf, TrieHarness } from "../../state/trie/trieHarness.ts";
import { readVectorJson } from "../../vectors.ts";
import type { Case, Failure, Suite } from "../suite.ts";

type Change = readonly [key: string, value: string | null];

interface RootTest {
  /** Changes in order, or entries in any order. */
  readonly in: readonly Change[] | Readonly<Record<string, string>>;
  readonly root: string;
}

/**
 * TrieTests on the state trie: each list of changes version by version, and all at once; entries without an order also
 * backwards.
 */
export const TRIE: Suite = {
  name: "trie",
  total: 79,
  every: 1,
  cases: () => [...FILES.flatMap(rootCases), ...orderCases()],
};

/** Keys are hashed only in the files named "secure". */
const FILES = [
  "trietest",
  "trietest_secureTrie",
  "trieanyorder",
  "trieanyorder_secureTrie",
  "hex_encoded_securetrie_test",
];

function rootCases(file: string): Case[] {
  const tests = readVectorJson<Readonly<Record<string, RootTest>>>("trie-tests", `${file}.json`);
  const keyOf = (text: string): string =>
    toDigits(/secure/i.test(file) ? keccak256(bytesOfText(text)) : bytesOfText(text));
  return Object.entries(tests).flatMap(([title, { in: input, root }]) => {
    const isOrdered = Array.isArray(input);
    const changes: readonly Change[] = isOrdered ? input : Object.entries(input);
    const entries = changes.map(
      ([key, value]) => [keyOf(key), value === null ? undefined : bytesOfText(value)] as const,
    );
    const ways = {
      "one by one": entries.map((entry) => new Map([entry])),
      "at once": [new Map(entries)],
      ...(!isOrdered && { backwards: entries.toReversed().map((entry) => new Map([entry])) }),
    };
    return Object.entries(ways).map(([way, versions]) => ({
      id: `${file} ${title}, ${way}`,
      run: () => checkRoot(versions, root),
    }));
  });
}

async function checkRoot(
  versions: readonly ReadonlyMap<string, Uint8Array | undefined>[],
  expected: string,
): Promise<Failure | undefined> {
  const lengths = new Set(versions.flatMap((version) => [...version.keys()].map((key) => key.length / 2)));
  const about = lengths.size > 1 ? "keys of several lengths: " : "";
  try {
    const trie = new TrieHarness();
    for (const version of versions) await trie.apply(version);
    const root = toHex(trie.root.hash);
    return root === expected ? undefined : `${about}root ${root}, expected ${expected}`;
  } catch (error) {
    if (lengths.size > 1 && error instanceof AssertionFailed) return `${about}${error.message}`;
    throw error;
  }
}

interface OrderTest {
  readonly in: readonly string[];
  /** A key, the previous key and the next key; empty when there is none. */
  readonly tests: readonly (readonly [key: string, previous: string, next: string])[];
}

/** Our trie has keys of one length. Padding with zeros does not change the order of these keys. */
function orderCases(): Case[] {
  const tests = readVectorJson<Readonly<Record<string, OrderTest>>>("trie-tests", "trietestnextprev.json");
  return Object.entries(tests).flatMap(([title, { in: keys, tests: lookups }]) =>
    lookups.map(([key, previous, next]) => ({
      id: `trietestnextprev ${title} ${key}`,
      run: async () => {
        const order = await keysInOrder(keys);
        const found = [order.filter((other) => other < key).at(-1), order.find((other) => other > key)];
        const [before = "", after = ""] = found;
        return before === previous && after === next
          ? undefined
          : `between "${before}" and "${after}", expected "${previous}" and "${next}"`;
      },
    })),
  );
}

const KEY_LENGTH = 32;

async function keysInOrder(keys: readonly string[]): Promise<string[]> {
  const trie = new TrieHarness();
  const padded = (key: string): string => toDigits(bytesOfText(key)).padEnd(KEY_LENGTH * 2, "0");
  await trie.apply(new Map(keys.map((key) => [padded(key), Uint8Array.of(1)])));
  const onDamage = (error: unknown): never => {
    throw error;
  };
  return [...trieLeaves(trie.source(), KEY_LENGTH, onDamage)].map(({ key }) =>
    Buffer.from(bytesOf(toDigits(key).replace(/(00)+$/, ""))).toString("utf8"),
  );
}

function bytesOfText(text: string): Uint8Array {
  return (text.startsWith("0x") ? parseHex(text) : undefined) ?? new TextEncoder().encode(text);
}
