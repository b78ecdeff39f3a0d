import { MerklePatriciaTrie } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import type { GenesisAccount } from "../../src/chainspec/chainSpec.ts";
import { asHash, type Hash, keccak256 } from "../../src/primitives/hash.ts";
import { bigintToBytes } from "../../src/primitives/quantity.ts";

/** State root of an alloc by the library's trie: the oracle for ours. */
export async function genesisStateRoot(alloc: readonly GenesisAccount[]): Promise<Hash> {
  const state = newTrie();
  for (const { address, nonce, balance, code, storage } of alloc) {
    const slots = newTrie();
    for (const { slot, value } of storage) await slots.put(slot, RLP.encode(value));
    const fields = [bigintToBytes(nonce), bigintToBytes(balance), slots.root(), keccak256(code)];
    await state.put(address, RLP.encode(fields));
  }
  return asHash(state.root());
}

function newTrie(): MerklePatriciaTrie {
  return new MerklePatriciaTrie({ useKeyHashing: true, useKeyHashingFunction: keccak256 });
}
