import { useMemo } from "preact/hooks";
import { useCoinSymbol } from "../chain/coin.ts";
import { call } from "../chain/connection.ts";
import { useLoaded } from "../chain/hooks.ts";
import { showNumber, showSeconds, showShort } from "../format.ts";
import { Empty, IndexProblem, Loading } from "../parts/notices.tsx";
import { Panel } from "../parts/panel.tsx";
import { Plot } from "../parts/plot.tsx";
import type { ViewProps } from "../router.ts";

/** The spans that can be chosen, in days. */
const SPANS = [
  { days: 30, name: "30 days" },
  { days: 90, name: "90 days" },
  { days: 365, name: "A year" },
];
const SECONDS_OF_DAY = 86_400;
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** A day of explorer_getDays, with numbers as the charts need them. */
interface Day {
  /** Days since 1970. */
  readonly day: number;
  readonly transactions: number;
  readonly gasUsed: number;
  readonly fees: number;
  readonly newAccounts: number;
  /** Mean seconds between two blocks; undefined on a day without one. */
  readonly spacing: number | undefined;
}

/** What happened on each day, from the index by address. */
export function ChartsView({ route }: ViewProps) {
  const span = SPANS.find(({ days }) => String(days) === route.query.get("days"))?.days ?? 30;
  const { value, error } = useLoaded(() => daysOf(span), [span]);
  return (
    <article class="page">
      <h1>Day by day</h1>
      <nav class="tabs" aria-label="Span">
        {SPANS.map(({ days, name }) => (
          <a
            key={days}
            href={days === 30 ? "/charts" : `/charts?days=${days}`}
            aria-current={days === span ? "page" : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {error !== undefined && <IndexProblem error={error} />}
      {value === undefined && error === undefined && <Loading />}
      {value?.length === 0 && <Empty>The index of this node has not counted a day yet.</Empty>}
      {value !== undefined && value.length > 0 && <Charts days={value} />}
    </article>
  );
}

function Charts({ days }: { readonly days: readonly Day[] }) {
  const symbol = useCoinSymbol();
  return (
    <div class="columns charts">
      <Chart days={days} title="Transactions" read={({ transactions }) => transactions} show={showShort} />
      <Chart days={days} title="Gas used" read={({ gasUsed }) => gasUsed} show={showShort} />
      <Chart
        days={days}
        title={`Fees paid${symbol === "" ? "" : `, ${symbol}`}`}
        read={({ fees }) => fees}
        show={showShort}
      />
      <Chart days={days} title="New accounts" read={({ newAccounts }) => newAccounts} show={showShort} />
      <Chart days={days} title="Time between blocks" read={({ spacing }) => spacing} show={showSeconds} />
    </div>
  );
}

function Chart({
  days,
  title,
  read,
  show,
}: {
  readonly days: readonly Day[];
  readonly title: string;
  readonly read: (day: Day) => number | undefined;
  readonly show: (value: number) => string;
}) {
  const { x, y } = useMemo(() => {
    const points = days.flatMap((one) => {
      const value = read(one);
      return value === undefined ? [] : [{ day: one.day, value }];
    });
    return { x: points.map(({ day }) => day), y: points.map(({ value }) => value) };
  }, [days]);
  const newest = y.at(-1);
  return (
    <Panel title={title} aside={newest === undefined ? undefined : `${show(newest)} on the last day`}>
      <Plot
        x={x}
        y={y}
        show={show}
        showX={showDay}
        height={150}
        label={`${title} on each of ${showNumber(days.length)} days: at most ${show(Math.max(0, ...y))}`}
      />
    </Panel>
  );
}

function showDay(day: number): string {
  return DAY.format(day * SECONDS_OF_DAY * 1_000);
}

interface DayAnswer {
  readonly day: string;
  readonly firstBlock: string;
  readonly lastBlock: string;
  readonly transactions: string;
  readonly gasUsed: string;
  readonly fees: string;
  readonly newAccounts: string;
  readonly spacing: string;
}

/** The last days of the chain, the oldest first; those without a block have zeros. */
async function daysOf(span: number): Promise<readonly Day[]> {
  const { days } = await call<{ readonly days: readonly DayAnswer[] }>("explorer_getDays", [span]);
  const known = new Map(days.map((one) => [Number(one.day), dayOf(one)]));
  const newest = Math.max(...known.keys());
  const oldest = Math.max(newest - span + 1, Math.min(...known.keys()));
  const all = Array.from({ length: known.size === 0 ? 0 : newest - oldest + 1 }, (_, at) => oldest + at);
  return all.map((day) => known.get(day) ?? { ...EMPTY, day });
}

function dayOf({ spacing, fees, ...one }: DayAnswer): Day {
  const blocks = Number(one.lastBlock) - Number(one.firstBlock) + 1;
  return {
    day: Number(one.day),
    transactions: Number(one.transactions),
    gasUsed: Number(one.gasUsed),
    fees: Number(fees) / 1e18,
    newAccounts: Number(one.newAccounts),
    spacing: Number(spacing) / blocks,
  };
}

const EMPTY = { transactions: 0, gasUsed: 0, fees: 0, newAccounts: 0, spacing: undefined };
