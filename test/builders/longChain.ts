import { type Chain, createChain } from "../../src/chain/createChain.ts";
import { parseGenesis } from "../../src/chainspec/genesis.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { ZERO_ADDRESS } from "../../src/primitives/address.ts";
import { systemClock } from "../../src/primitives/clock.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT } from "../../src/primitives/hash.ts";
import { WorldState } from "../../src/state/worldState.ts";
import { Batch } from "../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../src/storage/blocks/blockStore.ts";
import type { ChainDatabase } from "../../src/storage/chainDatabase.ts";
import type { NamedHeader, StoredBlock } from "../../src/types/block.ts";
import { hashOfHeader } from "../../src/types/blockHash.ts";
import { bloomOfLogs, EMPTY_BLOOM, mergeBloom } from "../../src/types/bloom.ts";
import type { Header } from "../../src/types/header.ts";
import type { Log } from "../../src/types/log.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";

/** The contents of a block beside its header; most blocks should be empty. */
export interface BlockContent {
  readonly transactions: readonly SentTransaction[];
  /** Logs of each transaction. */
  readonly logs: readonly (readonly Log[])[];
}

export const NOTHING: BlockContent = { transactions: [], logs: [] };

export interface LongChainSettings {
  /** A database as a node has it, or one in memory. */
  readonly stored: Pick<ChainDatabase, "database" | "headMarker">;
  /** Number of the last block. */
  readonly head: number;
  contentOf(number: number): BlockContent;
  /** Text of the genesis file. */
  readonly genesis: string;
}

/**
 * Writes a chain of any length directly into a database that a node can continue with: unsealed blocks, each a
 * second after the one before, none of which changes the state, since their transactions are not executed. Continues the
 * existing chain.
 */
export async function aLongChain(settings: LongChainSettings): Promise<Chain> {
  const { database, headMarker } = settings.stored;
  const { chain, blocks, world } = await openChain(settings);
  let parent: NamedHeader = chain.head;
  const unchanged = world.overlay().changes();
  while (Number(parent.header.number) < settings.head) {
    const batch = new Batch();
    while (batch.operations.length < OPERATIONS_PER_WRITE && Number(parent.header.number) < settings.head) {
      const block = blockAfter(parent, chain.genesis.header, settings);
      // A separate batch, because its commit record counts its entries.
      const own = new Batch();
      const staged = world.stage(unchanged, block.header.number);
      staged.writeTo(own);
      blocks.put(own, block);
      blocks.complete(own, block);
      world.adopt(staged);
      for (const { key, value } of own.operations) if (value !== undefined) batch.put(key, value);
      parent = block;
    }
    await database.write(batch);
  }
  headMarker.record({ number: parent.header.number, hash: parent.hash });
  return (await openChain(settings)).chain;
}

async function openChain({ stored: { database, headMarker }, genesis }: LongChainSettings) {
  const parsed = parseGenesis(genesis, "the genesis of a long chain");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const blocks = new BlockStore(BLOCK_STORE_LIMITS, { database });
  const world = new WorldState({ database });
  const chain = await createChain(
    { builder: ZERO_ADDRESS, vanity: new Uint8Array(32) },
    {
      spec: parsed.value,
      stores: { database, blocks, world, headMarker },
      clock: systemClock,
      recoverSenders: () => Promise.reject(new Error("nothing is imported here")),
      production: {
        selectionTimePercent: 75,
        minOccupancyRatio: 0.8,
        maxBlockBytes: Number.POSITIVE_INFINITY,
        keepsRevertReasons: false,
        targetGasLimit: undefined,
      },
      logger: silentLogger,
    },
  );
  if (!chain.ok) throw new Error(chain.error.message);
  return { chain: chain.value, blocks, world };
}

const OPERATIONS_PER_WRITE = 20_000;
const GAS_PER_LOG = 1_000n;

function blockAfter(parent: NamedHeader, genesis: Header, { contentOf }: LongChainSettings): StoredBlock {
  const number = parent.header.number + 1n;
  const { transactions, logs } = contentOf(Number(number));
  const logsBloom = Uint8Array.from(EMPTY_BLOOM);
  let cumulativeGasUsed = 0n;
  const receipts = transactions.map(({ type }, index) => {
    const bloom = bloomOfLogs(logs[index] ?? []);
    mergeBloom(logsBloom, bloom);
    const gasUsed = 21_000n + BigInt(logs[index]?.length ?? 0) * GAS_PER_LOG;
    cumulativeGasUsed += gasUsed;
    return {
      type,
      outcome: { status: 1 },
      cumulativeGasUsed,
      gasUsed,
      logs: logs[index] ?? [],
      logsBloom: bloom,
    } as const;
  });
  const header: Header = {
    parentHash: parent.hash,
    ommersHash: EMPTY_LIST_HASH,
    coinbase: ZERO_ADDRESS,
    stateRoot: parent.header.stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom,
    difficulty: 1n,
    number,
    gasLimit: parent.header.gasLimit,
    gasUsed: cumulativeGasUsed,
    timestamp: parent.header.timestamp + 1n,
    // The validators of genesis, round 0, without seals.
    extraData: genesis.extraData,
    mixHash: genesis.mixHash,
    nonce: new Uint8Array(8),
    ...(parent.header.baseFeePerGas !== undefined && { baseFeePerGas: parent.header.baseFeePerGas }),
  };
  const hash = hashOfHeader(header);
  if (!hash.ok) throw new Error(hash.error.message);
  return {
    header,
    hash: hash.value,
    transactions,
    receipts,
    ommers: [],
    totalDifficulty: parent.totalDifficulty + 1n,
    size: 700 + transactions.reduce((sum, { raw }) => sum + raw.length, 0),
  };
}
