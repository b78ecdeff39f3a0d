import { blobBaseFee } from "../../../execution/blockRules.ts";
import { blobGasOf } from "../../../execution/checkTransaction.ts";
import { onceKnown } from "../../../primitives/eventual.ts";
import { encodeRlpString } from "../../../primitives/rlp.ts";
import { createdAddress } from "../../../types/createdAddress.ts";
import { encodeReceipt, type Receipt } from "../../../types/receipt.ts";
import {
  type AccessListEntry,
  effectiveGasPrice,
  effectivePriorityFee,
  encodeBodyTransaction,
  signatureScalars,
} from "../../../types/transaction.ts";
import { bytesOf as bytesOfReceipt } from "../../results/receiptResult.ts";
import { FieldError } from "../graphQlError.ts";
import { type FieldContext, longOf, type ResolverTable } from "./resolverTable.ts";
import { AccountSource, receiptLogs, type TransactionSource } from "./sources.ts";

export const TRANSACTION_FIELDS: ResolverTable = {
  Transaction: {
    hash: ({ transaction }: TransactionSource) => transaction.hash,
    nonce: ({ transaction }: TransactionSource) => transaction.nonce,
    index: ({ place }: TransactionSource) => place?.index,
    from: (source: TransactionSource, { block }, context) =>
      accountAt(source, source.transaction.sender, block, context),
    to: (source: TransactionSource, { block }, context) =>
      source.transaction.to && accountAt(source, source.transaction.to, block, context),
    value: ({ transaction }: TransactionSource) => transaction.value,
    // A transaction with fee caps shows zero, as in Besu.
    gasPrice: ({ transaction }: TransactionSource) => transaction.gasPrice ?? 0n,
    maxFeePerGas: ({ transaction }: TransactionSource) => transaction.maxFeePerGas,
    maxPriorityFeePerGas: ({ transaction }: TransactionSource) => transaction.maxPriorityFeePerGas,
    maxFeePerBlobGas: ({ transaction }: TransactionSource) => transaction.maxFeePerBlobGas,
    effectiveTip: ({ transaction, place }: TransactionSource) =>
      place && effectivePriorityFee(transaction, place.block.named.header.baseFeePerGas),
    gas: ({ transaction }: TransactionSource) => transaction.gasLimit,
    inputData: ({ transaction }: TransactionSource) => transaction.data,
    block: ({ place }: TransactionSource) => place?.block,
    status: (source: TransactionSource) =>
      ofReceipt(source, ({ outcome }) => ("status" in outcome ? outcome.status : undefined)),
    gasUsed: (source: TransactionSource) => ofReceipt(source, ({ gasUsed }) => gasUsed),
    cumulativeGasUsed: (source: TransactionSource) =>
      ofReceipt(source, ({ cumulativeGasUsed }) => cumulativeGasUsed),
    effectiveGasPrice: ({ transaction, place }: TransactionSource) =>
      place && effectiveGasPrice(transaction, place.block.named.header.baseFeePerGas),
    blobGasUsed: ({ transaction, place }: TransactionSource) =>
      place && transaction.type === 3 ? blobGasOf(transaction) : undefined,
    blobGasPrice({ transaction, place }: TransactionSource, _, { request: { backend } }) {
      if (place === undefined || transaction.type !== 3) return undefined;
      const { number, timestamp } = place.block.named.header;
      return blobBaseFee(backend.spec, number, timestamp);
    },
    createdContract(source: TransactionSource, { block }, context) {
      const { to, sender, nonce } = source.transaction;
      if (to !== undefined || (source.place === undefined && longOf(block) === undefined)) return undefined;
      return accountAt(source, createdAddress(sender, nonce), block, context);
    },
    logs(source: TransactionSource) {
      if (source.place === undefined) throw new FieldError("The transaction is pending: it has no logs yet");
      return ofReceipt(source, (receipt) => receiptLogs(source, receipt));
    },
    r: ({ transaction }: TransactionSource) => signatureScalars(transaction).r,
    s: ({ transaction }: TransactionSource) => signatureScalars(transaction).s,
    v: ({ transaction: { type, v } }: TransactionSource) => (type < 3 ? v : undefined),
    yParity: ({ transaction: { type, yParity } }: TransactionSource) => (type === 0 ? undefined : yParity),
    type: ({ transaction }: TransactionSource) => transaction.type,
    accessList: ({ transaction }: TransactionSource) => transaction.accessList,
    raw: ({ transaction }: TransactionSource) => encodeBodyTransaction(transaction),
    rawReceipt: (source: TransactionSource, _, { budget }) =>
      ofReceipt(source, (receipt) => {
        budget.expect(bytesOfReceipt(receipt));
        const bytes = encodeReceipt(receipt);
        return receipt.type === 0 ? bytes : encodeRlpString(bytes);
      }),
    blobVersionedHashes: ({ transaction }: TransactionSource) => transaction.blobVersionedHashes,
  },
  AccessTuple: {
    address: ({ address }: AccessListEntry) => address,
    storageKeys: ({ storageKeys }: AccessListEntry) => storageKeys,
  },
};

/** An account of a transaction: after its block, or after the head while it is pending, unless another one is asked for. */
function accountAt(
  { place }: TransactionSource,
  address: AccountSource["address"],
  block: unknown,
  { request: { backend } }: FieldContext,
): AccountSource {
  const number = longOf(block) ?? place?.block.number ?? backend.chain.head.header.number;
  return new AccountSource(backend.chain, address, number);
}

/** What a receipt says; undefined of a pending transaction. */
function ofReceipt<T>(source: TransactionSource, read: (receipt: Receipt) => T): T | Promise<T> | undefined {
  const receipt = source.receipt();
  return receipt && onceKnown(receipt, read);
}
