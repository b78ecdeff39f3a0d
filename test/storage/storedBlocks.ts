import { asAddress } from "../../src/primitives/address.ts";
import { asHash, EMPTY_LIST_HASH, type Hash, keccak256, ZERO_HASH } from "../../src/primitives/hash.ts";
import type { StoredBlock } from "../../src/types/block.ts";
import { encodeBlock, encodeTransactions } from "../../src/types/block.ts";
import { bloomOfLogs, EMPTY_BLOOM, mergeBloom } from "../../src/types/bloom.ts";
import { encodeHeader, type Header } from "../../src/types/header.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import { encodeReceipt, type Receipt } from "../../src/types/receipt.ts";
import type { SentTransaction, TransactionType } from "../../src/types/transaction.ts";
import { anAuthorization, aTransaction } from "../builders/aTransaction.ts";
import { accountFromSeed } from "../builders/testAccounts.ts";
import { generator, type Random } from "./random.ts";

export interface StoredChainOptions {
  readonly seed: number;
  /** Blocks above genesis. */
  readonly blocks: number;
  /** Transactions of each block above genesis. */
  readonly transactions: number;
}

/**
 * A chain of blocks for the store, genesis first: linked, with transactions of every type, receipts with and without
 * logs, and matching roots. The blocks are neither executed nor sealed; the state roots are random.
 */
export function aStoredChain({ seed, blocks, transactions }: StoredChainOptions): readonly StoredBlock[] {
  const random = generator(seed);
  const chain: StoredBlock[] = [];
  for (let number = 0; number <= blocks; number++)
    chain.push(aStoredBlock(random, chain.at(-1), number === 0 ? 0 : transactions));
  return chain;
}

function aStoredBlock(
  random: Random,
  parent: StoredBlock | undefined,
  transactionCount: number,
): StoredBlock {
  const number = parent === undefined ? 0n : parent.header.number + 1n;
  const transactions = Array.from({ length: transactionCount }, (_, index) =>
    someTransaction(random, number, index),
  );
  const receipts = someReceipts(random, transactions);
  const header = headerOver(random, parent, number, transactions, receipts);
  const hash = keccak256(encodeHeader(header));
  const block = { header, hash, transactions, receipts, ommers: [] };
  const totalDifficulty = (parent?.totalDifficulty ?? 0n) + header.difficulty;
  return { ...block, totalDifficulty, size: encodeBlock(block).length };
}

function someTransaction(random: Random, number: bigint, index: number): SentTransaction {
  const type = random.below(5) as TransactionType;
  return aTransaction({
    type,
    nonce: number * 1000n + BigInt(index),
    to: type < 3 && random.below(5) === 0 ? undefined : accountFromSeed(random.below(1000)).address,
    data: random.bytes(random.below(200)),
    accessList:
      type === 0 ? [] : [{ address: accountFromSeed(7).address, storageKeys: [randomHash(random)] }],
    authorizationList: type === 4 ? [anAuthorization()] : [],
    privateKey: accountFromSeed(random.below(10)).privateKey,
  });
}

function someReceipts(random: Random, transactions: readonly SentTransaction[]): readonly Receipt[] {
  let cumulativeGasUsed = 0n;
  return transactions.map(({ type }) => {
    const gasUsed = 21_000n + BigInt(random.below(1_000_000));
    cumulativeGasUsed += gasUsed;
    const logs = Array.from({ length: random.below(3) }, () => ({
      address: asAddress(random.bytes(20)),
      topics: Array.from({ length: random.below(5) }, () => randomHash(random)),
      data: random.bytes(random.below(100)),
    }));
    const hasStatus = random.below(4) > 0;
    const status = random.below(5) > 0 ? 1 : 0;
    return {
      type,
      outcome: hasStatus ? { status } : { stateRoot: random.bytes(32) },
      cumulativeGasUsed,
      gasUsed,
      logs,
      logsBloom: bloomOfLogs(logs),
      ...(hasStatus && status === 0 && { revertReason: random.bytes(random.below(70)) }),
    };
  });
}

function headerOver(
  random: Random,
  parent: StoredBlock | undefined,
  number: bigint,
  transactions: readonly SentTransaction[],
  receipts: readonly Receipt[],
): Header {
  const logsBloom = Uint8Array.from(EMPTY_BLOOM);
  for (const receipt of receipts) mergeBloom(logsBloom, receipt.logsBloom);
  return {
    parentHash: parent?.hash ?? ZERO_HASH,
    ommersHash: EMPTY_LIST_HASH,
    coinbase: asAddress(random.bytes(20)),
    stateRoot: randomHash(random),
    transactionsRoot: keccak256(encodeTransactions(transactions)),
    receiptsRoot: rootOfList(receipts.map(encodeReceipt)),
    logsBloom,
    difficulty: 1n,
    number,
    gasLimit: 300_000_000n,
    gasUsed: receipts.at(-1)?.cumulativeGasUsed ?? 0n,
    timestamp: 1_700_000_000n + number,
    extraData: random.bytes(100),
    mixHash: ZERO_HASH,
    nonce: new Uint8Array(8),
    ...(random.below(2) === 0 && { baseFeePerGas: BigInt(random.below(1000)) }),
  };
}

function randomHash(random: Random): Hash {
  return asHash(random.bytes(32));
}
