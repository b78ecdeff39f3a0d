import type { FoundPlace, IndexView, PlacedQuery } from "../../../accounts/indexReader.ts";
import type { Place } from "../../../accounts/layout.ts";
import { blobBaseFee } from "../../../execution/blockRules.ts";
import type { Address } from "../../../primitives/address.ts";
import type { StoredBlock } from "../../../types/block.ts";
import type { Receipt } from "../../../types/receipt.ts";
import type { SentTransaction } from "../../../types/transaction.ts";
import { ERRORS } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, RawJson, required } from "../../method.ts";
import { decodeOtterscanNumber } from "../../parameters/explorerParameters.ts";
import { decodeAddress, decodeIndex } from "../../parameters/parameters.ts";
import { indexedBlocks } from "../../results/indexedBlocks.ts";
import { receiptJson } from "../../results/receiptResult.ts";
import { minedTransactionJson, SELECTOR_BYTES } from "../../results/transactionResult.ts";
import { ADDRESS, INTEGER, OBJECT, OTTERSCAN_NUMBER } from "../../schemas.ts";

/** Most transactions that a page may ask for, as in Erigon and in the error for larger ones. */
const MAX_PAGE_SIZE = 25;
/** Transactions of one answer: a page is larger than asked for where its last block has more, since blocks are not divided. */
const MAX_TRANSACTIONS = 1_000;
/** Logs and bytes of input, logs and reverts in one answer, which has twice as many characters; what goes beyond is shortened. */
const MAX_LOGS = 10_000;
const MAX_DATA_BYTES = 4 * 1024 * 1024;

const PARAMETERS = [
  required("address", decodeAddress, ADDRESS),
  required("block", decodeOtterscanNumber, OTTERSCAN_NUMBER),
  required("size", decodeIndex, INTEGER),
] as const;
const RESULT = { name: "page", schema: OBJECT };

export const otsSearchTransactionsBefore = defineMethod({
  name: "ots_searchTransactionsBefore",
  namespace: "OTS",
  summary: "The newest transactions before a block in which an account took part; 0 for all blocks.",
  parameters: PARAMETERS,
  result: RESULT,
  ports: ["chain", "spec", "accounts"],
  mayOverlap: "few",
  run: ([address, block, size], context) =>
    search(context, address, size, {
      order: "newest",
      ...(block > 0n && { until: startOf(clamped(block)) }),
      isFromEnd: block === 0n,
    }),
});

export const otsSearchTransactionsAfter = defineMethod({
  name: "ots_searchTransactionsAfter",
  namespace: "OTS",
  summary: "The oldest transactions after a block in which an account took part; 0 for all blocks.",
  parameters: PARAMETERS,
  result: RESULT,
  ports: ["chain", "spec", "accounts"],
  mayOverlap: "few",
  run: ([address, block, size], context) =>
    search(context, address, size, {
      order: "oldest",
      ...(block > 0n && { from: startOf(clamped(block) + 1) }),
      isFromEnd: block === 0n,
    }),
});

interface Search extends PlacedQuery {
  readonly order: "newest" | "oldest";
  /** Whether the page begins at the end of the list from which it goes on. */
  readonly isFromEnd: boolean;
}

/** Finds a page. Whatever the direction, its transactions are in descending order. */
async function search(
  { backend: { chain, spec, accounts } }: ContextOf<"chain" | "spec" | "accounts">,
  address: Address,
  size: number,
  { isFromEnd, ...query }: Search,
): Promise<Answer> {
  if (size > MAX_PAGE_SIZE) return ERRORS.pageTooLarge;
  if (accounts === undefined) return ERRORS.accountIndexOff;
  const found = await accounts.read(chain, (view) => placesOf(view, address, size, query));
  if (query.order === "oldest") found.places.reverse();
  const page = new Page((number, timestamp) => blobBaseFee(spec, number, timestamp));
  for await (const { block, places } of indexedBlocks(chain, found.places))
    for (const { position } of places) page.add(block, position);
  const [firstPage, lastPage] =
    query.order === "newest" ? [isFromEnd, !found.hasMore] : [!found.hasMore, isFromEnd];
  return new RawJson(`{${page.members()},"firstPage":${firstPage},"lastPage":${lastPage}}`);
}

/** Finds as many places as fill the page, and the rest of its last block, up to MAX_TRANSACTIONS in all. */
async function placesOf(
  view: IndexView,
  address: Address,
  size: number,
  query: PlacedQuery,
): Promise<{ readonly places: FoundPlace[]; readonly hasMore: boolean }> {
  const find = async (part: PlacedQuery, limit: number): Promise<FoundPlace[]> => {
    const found: FoundPlace[] = [];
    for await (const place of view.placed("participation", address, { ...query, ...part, limit }))
      found.push(place);
    return found;
  };
  const places = await find({}, size);
  if (places.length < size) return { places, hasMore: false };
  const last = places.at(-1)?.block;
  if (last === undefined) return { places, hasMore: (await find({}, 1)).length > 0 };
  const [start, end] = [startOf(last), startOf(last + 1)];
  const before = places.filter(({ block }) => block !== last);
  const ofLast = await find({ from: start, until: end }, MAX_TRANSACTIONS - before.length);
  const beyond = await find(query.order === "newest" ? { until: start } : { from: end }, 1);
  return { places: [...before, ...ofLast], hasMore: beyond.length > 0 };
}

/**
 * The JSON of a page, transaction by transaction. Once it has many logs or bytes, transactions have the selectors of their
 * inputs alone, and receipts neither logs nor the data of reverts: it cannot end earlier, because Otterscan needs full pages.
 */
class Page {
  private readonly blobGasPrice: (number: bigint, timestamp: bigint) => bigint;
  private readonly transactions: string[] = [];
  private readonly receipts: string[] = [];
  private logs = 0;
  private dataBytes = 0;

  constructor(blobGasPrice: (number: bigint, timestamp: bigint) => bigint) {
    this.blobGasPrice = blobGasPrice;
  }

  add(block: StoredBlock, index: number): void {
    const { transactions, receipts, header } = block;
    const [transaction, receipt] = [transactions[index], receipts[index]];
    // A rewind has put another block there.
    if (transaction === undefined || receipt === undefined) return;
    this.logs += receipt.logs.length;
    this.dataBytes += dataBytesOf(transaction, receipt);
    const isWhole = this.logs <= MAX_LOGS && this.dataBytes <= MAX_DATA_BYTES;
    this.transactions.push(
      minedTransactionJson(block, index, isWhole ? undefined : SELECTOR_BYTES) ?? "null",
    );
    const shown = {
      blobGasPriceWei: this.blobGasPrice(header.number, header.timestamp),
      hasLogs: isWhole,
      hasRevertReason: isWhole,
      otherMembers: `"timestamp":${header.timestamp}`,
    };
    this.receipts.push(receiptJson(block, index, shown));
  }

  members(): string {
    return `"txs":[${this.transactions.join(",")}],"receipts":[${this.receipts.join(",")}]`;
  }
}

function dataBytesOf({ data }: SentTransaction, { logs, revertReason }: Receipt): number {
  return logs.reduce((sum, log) => sum + log.data.length, data.length + (revertReason?.length ?? 0));
}

function startOf(block: number): Place {
  return { block, position: 0 };
}

/** Limits a block number to one beyond every block. */
function clamped(block: bigint): number {
  return block > BEYOND ? Number(BEYOND) : Number(block);
}

const BEYOND = 2n ** 40n;
