import { call } from "../../chain/connection.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { Receipt, Transaction } from "../../chain/types.ts";
import { Empty, IndexProblem } from "../../parts/notices.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TransactionTable } from "../../parts/transactionTable.tsx";
import type { Route } from "../../router.ts";

/** Least entries of a page; a block is never split. */
const PAGE = 25;

interface FoundTransactions {
  readonly txs: readonly Transaction[];
  readonly receipts: readonly (Receipt & { readonly timestamp: number })[];
  readonly firstPage: boolean;
  readonly lastPage: boolean;
}

/** What the account sent and received, internal calls included, by the index by address. */
export function AccountTransactions({ address, route }: { readonly address: string; readonly route: Route }) {
  const before = numberIn(route, "before");
  const after = numberIn(route, "after");
  const found = useLoaded(
    () =>
      after === undefined
        ? call<FoundTransactions>("ots_searchTransactionsBefore", [address, before ?? 0, PAGE])
        : call<FoundTransactions>("ots_searchTransactionsAfter", [address, after, PAGE]),
    [address, before, after],
  );
  if (found.error !== undefined)
    return (
      <Panel title="Transactions">
        <IndexProblem error={found.error} />
      </Panel>
    );
  if (found.value === undefined) return null;
  const { txs, receipts, firstPage, lastPage } = found.value;
  const rows = txs.map((transaction, index) => {
    const receipt = receipts[index] ?? null;
    return { transaction, receipt, ...(receipt !== null && { timestamp: Number(receipt.timestamp) }) };
  });
  const path = `/address/${address}`;
  const numbers = txs.map(({ blockNumber }) => Number(blockNumber));
  return (
    <Panel title="Transactions">
      {rows.length === 0 ? (
        <Empty>No transaction has named this account.</Empty>
      ) : (
        <TransactionTable
          rows={rows}
          caption="Transactions of the account, the newest first"
          account={address}
        />
      )}
      <Pager
        newer={firstPage || numbers.length === 0 ? undefined : `${path}?after=${Math.max(...numbers)}`}
        older={lastPage || numbers.length === 0 ? undefined : `${path}?before=${Math.min(...numbers)}`}
      />
    </Panel>
  );
}

function numberIn({ query }: Route, name: string): number | undefined {
  const text = query.get(name);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
