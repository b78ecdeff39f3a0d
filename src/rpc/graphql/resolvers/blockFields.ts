import { encodeBody } from "../../../types/block.ts";
import { encodeHeader } from "../../../types/header.ts";
import { type Withdrawal, withdrawalOf } from "../../../types/withdrawal.ts";
import { accountOf } from "./accountFields.ts";
import { callFields } from "./calls.ts";
import { logsOfBlock } from "./logFields.ts";
import { longOf, type ResolverTable } from "./resolverTable.ts";
import { AccountSource, BlockSource } from "./sources.ts";

export const BLOCK_FIELDS: ResolverTable = {
  Block: {
    number: ({ number }: BlockSource) => number,
    hash: ({ named }: BlockSource) => named.hash,
    parent({ named: { header } }: BlockSource, _, { request: { backend } }) {
      const parent = backend.chain.headerByHash(header.parentHash);
      return parent && new BlockSource(backend.chain, parent);
    },
    nonce: ({ named: { header } }: BlockSource) => header.nonce,
    transactionsRoot: ({ named: { header } }: BlockSource) => header.transactionsRoot,
    transactionCount: ({ transactionCount }: BlockSource) => transactionCount,
    stateRoot: ({ named: { header } }: BlockSource) => header.stateRoot,
    receiptsRoot: ({ named: { header } }: BlockSource) => header.receiptsRoot,
    miner: ({ number, named: { header } }: BlockSource, { block }, { request: { backend } }) =>
      new AccountSource(backend.chain, header.coinbase, longOf(block) ?? number),
    extraData: ({ named: { header } }: BlockSource) => header.extraData,
    gasLimit: ({ named: { header } }: BlockSource) => header.gasLimit,
    gasUsed: ({ named: { header } }: BlockSource) => header.gasUsed,
    baseFeePerGas: ({ named: { header } }: BlockSource) => header.baseFeePerGas,
    timestamp: ({ named: { header } }: BlockSource) => header.timestamp,
    logsBloom: ({ named: { header } }: BlockSource) => header.logsBloom,
    mixHash: ({ named: { header } }: BlockSource) => header.mixHash,
    difficulty: ({ named: { header } }: BlockSource) => header.difficulty,
    totalDifficulty: ({ named }: BlockSource) => named.totalDifficulty,
    // No block of an IBFT chain has ommers.
    ommerCount: () => 0,
    ommers: () => [],
    ommerHash: ({ named: { header } }: BlockSource) => header.ommersHash,
    transactions: (block: BlockSource) => block.transactions(),
    transactionAt: (block: BlockSource, { index }) => block.transactionAt(longOf(index) ?? 0n),
    logs: (block: BlockSource, { filter }, context) => logsOfBlock(block, filter, context),
    account: ({ number }: BlockSource, { address }, { request: { backend } }) =>
      accountOf(backend.chain, address, number),
    ...callFields(({ named }: BlockSource) => named.header),
    rawHeader: ({ named: { header } }: BlockSource) => encodeHeader(header),
    raw({ stored }: BlockSource, _, { budget }) {
      budget.expect(2 * stored.size);
      return encodeBody(stored);
    },
    withdrawalsRoot: ({ named: { header } }: BlockSource) => header.withdrawalsRoot,
    withdrawals: ({ named: { header }, stored }: BlockSource) =>
      header.withdrawalsRoot === undefined ? undefined : (stored.withdrawals ?? []).map(withdrawalOf),
    blobGasUsed: ({ named: { header } }: BlockSource) => header.blobGasUsed,
    excessBlobGas: ({ named: { header } }: BlockSource) => header.excessBlobGas,
  },
  Withdrawal: {
    index: ({ index }: Withdrawal) => index,
    validator: ({ validatorIndex }: Withdrawal) => validatorIndex,
    address: ({ address }: Withdrawal) => address,
    amount: ({ amountGwei }: Withdrawal) => amountGwei,
  },
};
