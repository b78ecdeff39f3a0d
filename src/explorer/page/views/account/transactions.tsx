import { accountPath } from "../../chain/addresses.ts";
import { call } from "../../chain/connection.ts";
import { coverageOf } from "../../chain/coverage.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { ListPage } from "../../chain/tokens.ts";
import { loadTransactions } from "../../chain/transactions.ts";
import { Empty, IndexProblem } from "../../parts/notices.tsx";
import { CursorPager } from "../../parts/pager.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type TransactionRow, TransactionTable } from "../../parts/transactionTable.tsx";
import type { Route } from "../../router.ts";

const PAGE = 25;

interface Place {
  readonly transactionHash: string;
  readonly timestamp: string;
}

interface Found {
  readonly rows: readonly TransactionRow[];
  readonly next: string | null;
  readonly coverage: string | undefined;
}

/** Transactions in which the account took part, internal calls included, from the index by address. */
export function AccountTransactions({ address, route }: { readonly address: string; readonly route: Route }) {
  const cursor = route.query.get("from");
  const found = useLoaded(() => transactionsOf(address, cursor), [address, cursor]);
  if (found.error !== undefined)
    return (
      <Panel title="Transactions">
        <IndexProblem error={found.error} />
      </Panel>
    );
  if (found.value === undefined) return null;
  const { rows, next, coverage } = found.value;
  return (
    <Panel title="Transactions" aside={coverage}>
      {rows.length === 0 ? (
        <Empty>{`No transaction${coverage === undefined ? "" : ` ${coverage}`} has named this account.`}</Empty>
      ) : (
        <TransactionTable
          rows={rows}
          caption="Transactions of the account, the newest first"
          account={address}
        />
      )}
      <CursorPager path={accountPath(address)} parameter="from" cursor={cursor} next={next} />
    </Panel>
  );
}

async function transactionsOf(address: string, cursor: string | null): Promise<Found> {
  const page = await call<ListPage<Place>>("explorer_getTransactionsOf", [address, { size: PAGE, cursor }]);
  const { items, next } = page;
  const rows = await loadTransactions(items.map(({ transactionHash }) => transactionHash));
  const times = new Map(items.map(({ transactionHash, timestamp }) => [transactionHash, Number(timestamp)]));
  return {
    next,
    coverage: coverageOf(page),
    rows: rows.map((row) => ({ ...row, timestamp: times.get(row.transaction.hash) })),
  };
}
