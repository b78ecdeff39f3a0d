import { activityIn, queryOf } from "../../chain/activity.ts";
import { accountPath } from "../../chain/addresses.ts";
import { call } from "../../chain/connection.ts";
import { coverageOf } from "../../chain/coverage.ts";
import { TRANSACTIONS_CSV } from "../../chain/csv.ts";
import { useLoaded } from "../../chain/hooks.ts";
import type { ListPage } from "../../chain/tokens.ts";
import { loadTransactions } from "../../chain/transactions.ts";
import { Download } from "../../parts/download.tsx";
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
export function AccountTransactions({ address, route, filter }: ActivityProps) {
  const cursor = route.query.get("from");
  const found = useLoaded(
    () => transactionsOf(address, cursor, filter),
    [address, cursor, JSON.stringify(filter)],
  );
  if (found.error !== undefined)
    return (
      <Panel title="Transactions">
        <IndexProblem error={found.error} />
      </Panel>
    );
  if (found.value === undefined) return null;
  const { rows, next, coverage } = found.value;
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <Panel
      title="Transactions"
      aside={
        <>
          {coverage}{" "}
          {rows.length > 0 && (
            <Download list={TRANSACTIONS_CSV} account={address} filter={filter} name="transactions" />
          )}
        </>
      }
    >
      {rows.length === 0 ? (
        <Empty>
          {isFiltered
            ? `None of the transactions that were looked at passes the filter.`
            : `No transaction${coverage === undefined ? "" : ` ${coverage}`} has named this account.`}
        </Empty>
      ) : (
        <TransactionTable
          rows={rows}
          caption="Transactions of the account, the newest first"
          account={address}
        />
      )}
      <CursorPager path={pathWith(address, route)} parameter="from" cursor={cursor} next={next} />
    </Panel>
  );
}

/** What a list of an account is about. */
export interface ActivityProps {
  readonly address: string;
  readonly route: Route;
  /** The filter as the node takes it; empty for none. */
  readonly filter: object;
}

/** The account's page with its filter, and without a cursor. */
export function pathWith(address: string, { query }: Route): string {
  const text = queryOf(activityIn(query));
  return `${accountPath(address)}${text === "" ? "" : `?${text}`}`;
}

async function transactionsOf(address: string, cursor: string | null, filter: object): Promise<Found> {
  const page = await call<ListPage<Place>>("explorer_getTransactionsOf", [
    address,
    { size: PAGE, cursor },
    filter,
  ]);
  const { items, next } = page;
  const rows = await loadTransactions(items.map(({ transactionHash }) => transactionHash));
  const times = new Map(items.map(({ transactionHash, timestamp }) => [transactionHash, Number(timestamp)]));
  return {
    next,
    coverage: coverageOf(page),
    rows: rows.map((row) => ({ ...row, timestamp: times.get(row.transaction.hash) })),
  };
}
