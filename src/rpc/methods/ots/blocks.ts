import type { ChainSpec } from "../../../chainspec/chainSpec.ts";
import { parametersAt } from "../../../chainspec/ibftParameters.ts";
import { blobBaseFee } from "../../../execution/blockRules.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import type { StoredBlock } from "../../../types/block.ts";
import { effectiveGasPrice } from "../../../types/transaction.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, RawJson, required } from "../../method.ts";
import { decodeJsonNumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { decodePageSize } from "../../parameters/explorerParameters.ts";
import { decodeHash, decodeIndex } from "../../parameters/parameters.ts";
import { blockWithoutTransactionsJson } from "../../results/blockResult.ts";
import { receiptJson } from "../../results/receiptResult.ts";
import { minedTransactionJson, SELECTOR_BYTES } from "../../results/transactionResult.ts";
import { HASH, INTEGER, JSON_NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

/** Largest page of a block's transactions: the number is one byte in Erigon. */
const MAX_PAGE_TRANSACTIONS = 255;
const BLOCK = required("block", decodeJsonNumberOrTag, JSON_NUMBER_OR_TAG);
const DETAILS = { name: "details", schema: orNull(OBJECT) };

export const otsGetBlockDetails = defineMethod({
  name: "ots_getBlockDetails",
  namespace: "OTS",
  summary: "A block by number without its transactions, its reward, and the fees paid in it.",
  parameters: [BLOCK],
  result: DETAILS,
  ports: ["chain", "spec"],
  run([choice], { backend: { chain, spec } }) {
    const block = chain.blockByNumber(numberOf(chain, choice));
    return block === undefined ? null : detailsOf(block, spec);
  },
});

export const otsGetBlockDetailsByHash = defineMethod({
  name: "ots_getBlockDetailsByHash",
  namespace: "OTS",
  summary: "As ots_getBlockDetails, by hash. An unknown hash is an error.",
  parameters: [required("hash", decodeHash, HASH)],
  result: DETAILS,
  ports: ["chain", "spec"],
  run([hash], { backend: { chain, spec } }) {
    const block = chain.blockByHash(hash);
    return block === undefined ? ERRORS.blockNotFound : detailsOf(block, spec);
  },
});

export const otsGetBlockTransactions = defineMethod({
  name: "ots_getBlockTransactions",
  namespace: "OTS",
  summary: "A page of a block's transactions with their receipts; page 0 has the last ones.",
  parameters: [
    BLOCK,
    required("page", decodeIndex, INTEGER),
    required("size", decodePageSize(MAX_PAGE_TRANSACTIONS), INTEGER),
  ],
  result: { name: "transactions", schema: orNull(OBJECT) },
  ports: ["chain", "spec"],
  run([choice, page, size], { backend: { chain, spec } }) {
    const block = chain.blockByNumber(numberOf(chain, choice));
    return block === undefined ? null : pageOf(block, spec, { page, size });
  },
});

function detailsOf(block: StoredBlock, spec: ChainSpec): RawJson {
  const { number, baseFeePerGas } = block.header;
  const reward = toQuantity(number === 0n ? 0n : parametersAt(spec.ibft, number).blockRewardWei);
  let fees = 0n;
  for (const [index, transaction] of block.transactions.entries())
    fees += (block.receipts[index]?.gasUsed ?? 0n) * effectiveGasPrice(transaction, baseFeePerGas);
  return new RawJson(
    `{"block":${withoutBloom(block, countOf(block))},` +
      `"issuance":{"blockReward":"${reward}","uncleReward":"0x0","issuance":"${reward}"},` +
      `"totalFees":"${toQuantity(fees)}"}`,
  );
}

function pageOf(
  block: StoredBlock,
  spec: ChainSpec,
  { page, size }: { readonly page: number; readonly size: number },
): RawJson {
  const count = block.transactions.length;
  const end = Math.max(count - page * size, 0);
  const indexes = Array.from({ length: Math.min(end, size) }, (_, at) => Math.max(end - size, 0) + at);
  const { number, timestamp } = block.header;
  const blobGasPriceWei = blobBaseFee(spec, number, timestamp);
  const transactions = indexes.map((index) => minedTransactionJson(block, index, SELECTOR_BYTES) ?? "null");
  const receipts = indexes.map((index) => receiptJson(block, index, { blobGasPriceWei, hasLogs: false }));
  const members = `${countOf(block)},"transactions":[${transactions.join(",")}]`;
  return new RawJson(`{"fullblock":${withoutBloom(block, members)},"receipts":[${receipts.join(",")}]}`);
}

function countOf({ transactions }: StoredBlock): string {
  return `"transactionCount":${transactions.length}`;
}

function withoutBloom(block: StoredBlock, otherMembers: string): string {
  return blockWithoutTransactionsJson(block, { otherMembers, hidesBloom: true });
}
