import { ZERO_ADDRESS } from "../../src/primitives/address.ts";
import {
  EMPTY_LIST_HASH,
  EMPTY_TRIE_ROOT,
  type Hash,
  keccak256,
  ZERO_HASH,
} from "../../src/primitives/hash.ts";
import { EMPTY_BYTES } from "../../src/primitives/hex.ts";
import { encodeBlock, type StoredBlock } from "../../src/types/block.ts";
import { bloomOfLogs, mergeBloom } from "../../src/types/bloom.ts";
import { encodeHeader, type Header } from "../../src/types/header.ts";
import type { Log } from "../../src/types/log.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";

/** What a test may say of a stored block. */
export interface StoredBlockFields {
  readonly number: number;
  readonly transactions: readonly SentTransaction[];
  /** Gas that each transaction used; 21,000 unless said. */
  readonly gasUsed: readonly bigint[];
  /** Logs that each transaction left. */
  readonly logs: readonly (readonly Log[])[];
  readonly baseFeePerGas: bigint;
  readonly parentHash: Hash;
}

/**
 * A block as the database would give it back: receipts, bloom, gas and size fit the transactions; the roots and the
 * extra data are empty, because nothing that reads stored blocks judges them. Its hash is that of the whole header.
 */
export function aStoredBlock(fields: Partial<StoredBlockFields> = {}): StoredBlock {
  const { number = 0, transactions = [], gasUsed = [], logs = [], baseFeePerGas, parentHash } = fields;
  const logsBloom = new Uint8Array(256);
  let cumulativeGasUsed = 0n;
  const receipts = transactions.map(({ type }, index) => {
    const used = gasUsed[index] ?? 21_000n;
    const ownLogs = logs[index] ?? [];
    const bloom = bloomOfLogs(ownLogs);
    mergeBloom(logsBloom, bloom);
    cumulativeGasUsed += used;
    return {
      type,
      outcome: { status: 1 },
      cumulativeGasUsed,
      gasUsed: used,
      logsBloom: bloom,
      logs: ownLogs,
    } as const;
  });
  const header: Header = {
    parentHash: parentHash ?? ZERO_HASH,
    ommersHash: EMPTY_LIST_HASH,
    coinbase: ZERO_ADDRESS,
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom,
    difficulty: 1n,
    number: BigInt(number),
    gasLimit: 30_000_000n,
    gasUsed: cumulativeGasUsed,
    timestamp: BigInt(number),
    extraData: EMPTY_BYTES,
    mixHash: ZERO_HASH,
    nonce: new Uint8Array(8),
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
  };
  const block = { header, transactions, ommers: [] };
  return {
    ...block,
    hash: keccak256(encodeHeader(header)),
    totalDifficulty: BigInt(number + 1),
    receipts,
    size: encodeBlock(block).length,
  };
}
