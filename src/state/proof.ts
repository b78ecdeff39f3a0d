import type { Address } from "../primitives/address.ts";
import { keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import type { Account } from "../types/account.ts";
import { decodeAccount, decodeSlotValue } from "./accountLeaf.ts";
import { ACCOUNT_TRIE } from "./stateWriter.ts";
import { findLeaf, type TrieSource } from "./trie/findLeaf.ts";
import type { NodeReader } from "./trie/pageReader.ts";
import { EMPTY_TRIE, type TrieRoot } from "./trie/trieRoot.ts";

/** Nodes from the root downwards, as RLP. `account` is absent in a proof of exclusion. */
export interface AccountProof {
  readonly account?: Account;
  readonly accountProof: readonly Uint8Array[];
  readonly storageProof: readonly {
    readonly slot: Uint8Array;
    readonly value: Uint8Array;
    readonly proof: readonly Uint8Array[];
  }[];
}

/**
 * Collects the nodes that prove an account and some of its slots under `root`, or their absence (EIP-1186). The empty
 * trie has no node, so its proof is empty.
 */
export function proveAccount(
  reader: NodeReader,
  root: TrieRoot,
  address: Address,
  slots: readonly Uint8Array[],
): AccountProof {
  const { leaf, proof: accountProof } = prove({ reader, trieId: ACCOUNT_TRIE, root }, keccak256(address));
  const account = leaf === undefined ? undefined : decodeAccount(leaf.value);
  const storage: TrieSource =
    account === undefined || leaf?.storage === undefined || leaf.storage.trieId === 0
      ? { reader, trieId: ACCOUNT_TRIE, root: EMPTY_TRIE }
      : {
          reader,
          trieId: leaf.storage.trieId,
          root: { hash: account.storageRoot, version: leaf.storage.version },
        };
  const storageProof = slots.map((slot) => {
    const { leaf: found, proof } = prove(storage, keccak256(slot));
    return { slot, value: found === undefined ? EMPTY_BYTES : decodeSlotValue(found.value), proof };
  });
  return account === undefined ? { accountProof, storageProof } : { account, accountProof, storageProof };
}

function prove(source: TrieSource, key: Uint8Array) {
  const proof: Uint8Array[] = [];
  const leaf = findLeaf(source, key, (rlp) => proof.push(Uint8Array.from(rlp)));
  return { leaf, proof };
}
