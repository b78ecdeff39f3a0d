import type { TransactionRow } from "../parts/transactionTable.tsx";
import { call } from "./connection.ts";
import { hexOf, type RecentBlock } from "./recentBlocks.ts";
import type { Receipt, Transaction } from "./types.ts";

/** Transactions with their receipts, in the order of their hashes. */
export async function loadTransactions(hashes: readonly string[]): Promise<readonly TransactionRow[]> {
  const rows = await Promise.all(
    hashes.map(async (hash) => {
      const [transaction, receipt] = await Promise.all([
        call<Transaction | null>("eth_getTransactionByHash", [hash]),
        call<Receipt | null>("eth_getTransactionReceipt", [hash]),
      ]);
      return { transaction, receipt };
    }),
  );
  return rows.flatMap(({ transaction, receipt }) => (transaction === null ? [] : [{ transaction, receipt }]));
}

/** The last transactions of these blocks, the newest first. */
export async function loadNewest(
  blocks: readonly RecentBlock[],
  count: number,
): Promise<readonly TransactionRow[]> {
  const places = blocks
    .flatMap(({ number, timestamp, transactions }) =>
      Array.from({ length: Math.min(count, transactions) }, (_, back) => ({
        number,
        timestamp,
        index: transactions - 1 - back,
      })),
    )
    .slice(0, count);
  const rows = await Promise.all(
    places.map(async ({ number, timestamp, index }) => {
      const place = [hexOf(number), hexOf(index)];
      const transaction = await call<Transaction | null>("eth_getTransactionByBlockNumberAndIndex", place);
      const hash = transaction?.hash;
      const receipt =
        hash === undefined ? null : await call<Receipt | null>("eth_getTransactionReceipt", [hash]);
      return { transaction, receipt, timestamp };
    }),
  );
  return rows.flatMap(({ transaction, ...others }) =>
    transaction === null ? [] : [{ transaction, ...others }],
  );
}
