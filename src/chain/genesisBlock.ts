import type { ChainSpec, GenesisAccount } from "../chainspec/chainSpec.ts";
import { expectDefined } from "../primitives/assert.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT, type Hash } from "../primitives/hash.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { type StagedState, WorldState } from "../state/worldState.ts";
import { Batch } from "../storage/batch.ts";
import type { BlockStore } from "../storage/blocks/blockStore.ts";
import { createMemoryDatabase } from "../storage/memoryDatabase.ts";
import { encodeBlock, type StoredBlock } from "../types/block.ts";
import { hashOfHeader } from "../types/blockHash.ts";
import type { ChainStores } from "./chainStores.ts";

/** Derives block zero of a network, its state root from the accounts of the genesis file. */
export function deriveGenesisBlock(spec: ChainSpec): StoredBlock {
  const scratch = new WorldState({ database: createMemoryDatabase() });
  return genesisBlock(spec, stageGenesis(spec.genesis.alloc, scratch).root);
}

/** Whether the stored chain began with this network's block zero. */
export function isChainOf(spec: ChainSpec, blocks: Pick<BlockStore, "header">): boolean {
  const stored = blocks.header(0n);
  return stored !== undefined && equalBytes(stored.hash, deriveGenesisBlock(spec).hash);
}

/**
 * Makes sure that the stores hold this network's chain: writes block zero to an empty database, and otherwise compares the
 * stored block zero. Fails with both hashes when they differ.
 */
export async function openGenesis(
  spec: ChainSpec,
  stores: ChainStores,
): Promise<Result<StoredBlock, "differentGenesis">> {
  const { database, blocks, world } = stores;
  const stored = blocks.block(0n);
  if (stored !== undefined) {
    const expected = deriveGenesisBlock(spec);
    return equalBytes(stored.hash, expected.hash) ? ok(stored) : differentGenesis(stored.hash, expected.hash);
  }
  const staged = stageGenesis(spec.genesis.alloc, world);
  const block = genesisBlock(spec, staged.root);
  const batch = new Batch();
  staged.writeTo(batch);
  blocks.put(batch, block);
  blocks.complete(batch, block);
  await database.write(batch);
  stores.headMarker.record({ number: 0n, hash: block.hash });
  world.adopt(staged);
  blocks.remember(block);
  return ok(block);
}

function stageGenesis(alloc: readonly GenesisAccount[], world: WorldState): StagedState {
  const overlay = world.overlay();
  for (const { address, nonce, balance, code, storage } of alloc) {
    overlay.putAccount(address, { nonce, balance, storageRoot: EMPTY_TRIE_ROOT, codeHash: EMPTY_CODE_HASH });
    if (code.length > 0) overlay.putCode(address, code);
    for (const { slot, value } of storage) overlay.putStorage(address, slot, value);
  }
  return world.stage(overlay.changes(), 0n);
}

function genesisBlock(spec: ChainSpec, stateRoot: Hash): StoredBlock {
  const header = { ...spec.genesis.header, stateRoot };
  const hash = hashOfHeader(header);
  const block = {
    header,
    transactions: [],
    ommers: [],
    ...(header.withdrawalsRoot !== undefined && { withdrawals: [] }),
  };
  return {
    ...block,
    hash: expectDefined(hash.ok ? hash.value : undefined, "the hash of block zero"),
    receipts: [],
    totalDifficulty: header.difficulty,
    size: encodeBlock(block).length,
  };
}

function differentGenesis(stored: Hash, expected: Hash): Result<StoredBlock, "differentGenesis"> {
  return fail(
    "local",
    "differentGenesis",
    `the stored genesis block is ${toHex(stored)}, the genesis file's is ${toHex(expected)}`,
  );
}
