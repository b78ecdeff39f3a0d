import { call } from "../chain/connection.ts";
import { useLoadedAtHead } from "../chain/hooks.ts";
import type { PoolPage, WaitingTransaction } from "../chain/pool.ts";
import { showCoins, showNumber, showPrice } from "../format.ts";
import { Age } from "../parts/age.tsx";
import { AccountLink, TransactionLink } from "../parts/links.tsx";
import { Method } from "../parts/method.tsx";
import { Empty, Loading, Problem } from "../parts/notices.tsx";
import { CursorPager } from "../parts/pager.tsx";
import { Figure, Panel } from "../parts/panel.tsx";
import { Sideways } from "../parts/sideways.tsx";
import { whyWaiting } from "../parts/whyWaiting.ts";
import type { ViewProps } from "../router.ts";

const PAGE = 25;

/** The pool: what waits for a block, at which price, and why. */
export function PoolView({ route }: ViewProps) {
  const order = route.query.get("order") === "newest" ? "newest" : "oldest";
  const cursor = route.query.get("from");
  const loaded = useLoadedAtHead(
    () => call<PoolPage>("explorer_getPool", [{ size: PAGE, order, cursor }]),
    [order, cursor],
  );
  const { value, error } = loaded;
  return (
    <article class="page">
      <h1>Pool</h1>
      {error !== undefined && <Problem error={error} />}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && (
        <>
          <Facts page={value} />
          <Tabs order={order} />
          <Panel title="Waiting for a block" aside="as this node sees it">
            {value.items.length === 0 ? (
              <Empty>No transaction waits here.</Empty>
            ) : (
              <WaitingTable transactions={value.items} />
            )}
            <CursorPager
              path={pathOf(order)}
              parameter="from"
              cursor={cursor}
              next={value.next}
              names={order === "oldest" ? ["First", "Later"] : ["Newest", "Older"]}
            />
          </Panel>
        </>
      )}
    </article>
  );
}

function Facts({ page }: { readonly page: PoolPage }) {
  return (
    <dl class="figures">
      <Figure name="Pending" note="may go into a block">
        {showNumber(Number(page.pending))}
      </Figure>
      <Figure name="Queued" note="miss an earlier nonce">
        {showNumber(Number(page.queued))}
      </Figure>
      <Figure name="Lowest price" note="that this node mines">
        {showPrice(page.minGasPrice)}
      </Figure>
    </dl>
  );
}

type Order = "oldest" | "newest";

function pathOf(order: Order): string {
  return order === "oldest" ? "/pool" : "/pool?order=newest";
}

function Tabs({ order }: { readonly order: Order }) {
  return (
    <nav class="tabs" aria-label="Order">
      <a href={pathOf("oldest")} aria-current={order === "oldest" ? "page" : undefined}>
        Longest waiting
      </a>
      <a href={pathOf("newest")} aria-current={order === "newest" ? "page" : undefined}>
        Newest
      </a>
    </nav>
  );
}

function WaitingTable({ transactions }: { readonly transactions: readonly WaitingTransaction[] }) {
  return (
    <Sideways>
      <table class="unmined">
        <caption class="hidden">Transactions that wait for a block</caption>
        <thead>
          <tr>
            <th scope="col">Transaction</th>
            <th scope="col">Why it waits</th>
            <th scope="col">Arrived</th>
            <th scope="col">From</th>
            <th scope="col" class="number">
              Nonce
            </th>
            <th scope="col">To</th>
            <th scope="col">Method</th>
            <th scope="col" class="number">
              Value
            </th>
            <th scope="col" class="number">
              Price
            </th>
          </tr>
        </thead>
        <tbody>
          {transactions.map((one) => (
            <Row key={one.hash} transaction={one} />
          ))}
        </tbody>
      </table>
    </Sideways>
  );
}

function Row({ transaction }: { readonly transaction: WaitingTransaction }) {
  const { hash, from, nonce, since, to, value, price, selector } = transaction;
  return (
    <tr>
      <td>
        <TransactionLink hash={hash} />
      </td>
      <td class="why">{whyWaiting(transaction)}</td>
      <td>
        <Age timestamp={Number(since)} />
      </td>
      <td>
        <AccountLink address={from} />
      </td>
      <td class="number">{showNumber(BigInt(nonce))}</td>
      <td>{to !== null && <AccountLink address={to} />}</td>
      <td>
        <Method to={to} input={selector} />
      </td>
      <td class="number">{showCoins(value)}</td>
      <td class="number">{showPrice(price)}</td>
    </tr>
  );
}
