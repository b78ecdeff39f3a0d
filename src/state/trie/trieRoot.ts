import { EMPTY_TRIE_ROOT, type Hash } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";

/** A trie at one version. The version means nothing when the trie is empty. */
export interface TrieRoot {
  readonly hash: Hash;
  readonly version: number;
}

export const EMPTY_TRIE: TrieRoot = { hash: EMPTY_TRIE_ROOT, version: 0 };

export function isEmptyTrie(root: TrieRoot): boolean {
  return equalBytes(root.hash, EMPTY_TRIE_ROOT);
}
