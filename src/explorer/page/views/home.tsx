import { useClock } from "../chain/clock.ts";
import { call } from "../chain/connection.ts";
import { useLoaded, useLoadedAtHead } from "../chain/hooks.ts";
import { type RecentBlock, useRecentBlocks } from "../chain/recentBlocks.ts";
import { loadNewest } from "../chain/transactions.ts";
import { showDuration, showNumber, showPercent, showShort } from "../format.ts";
import { BlockTable } from "../parts/blockTable.tsx";
import { AccountLink } from "../parts/links.tsx";
import { Figure, Panel } from "../parts/panel.tsx";
import { Plot } from "../parts/plot.tsx";
import { TransactionTable } from "../parts/transactionTable.tsx";
import { Validators } from "./validators.tsx";

/** Number of blocks in the plots. */
const PLOTTED = 60;
const LISTED = 12;
const LISTED_TRANSACTIONS = 8;

/** The home page: the chain as it grows. */
export function Home() {
  const all = useRecentBlocks();
  const [newest] = all;
  // Nobody proposed the genesis block, and its time is arbitrary.
  const blocks = all.filter(({ number }) => number > 0);
  return (
    <article class="page">
      <Headline newest={newest} />
      <Figures blocks={blocks} />
      {blocks.length > 0 && (
        <>
          <div class="columns">
            <Plots blocks={blocks.slice(0, PLOTTED)} />
          </div>
          <Validators blocks={blocks} />
          <NewestTransactions blocks={blocks} />
          <NewestBlocks blocks={all.slice(0, LISTED)} />
        </>
      )}
    </article>
  );
}

function Headline({ newest }: { readonly newest: RecentBlock | undefined }) {
  const age = useClock((nowMs) => showDuration(nowMs / 1_000 - (newest?.timestamp ?? 0)));
  return (
    <header class="headline">
      <p class="kicker">Height</p>
      <h1 class="height">{newest === undefined ? "…" : showNumber(newest.number)}</h1>
      <p class="since">
        {newest === undefined ? "Asking the node" : `Last block ${age} ago`}
        {newest !== undefined && newest.number > 0 && (
          <>
            {" by "}
            <AccountLink address={newest.proposer} />
          </>
        )}
      </p>
    </header>
  );
}

function Figures({ blocks }: { readonly blocks: readonly RecentBlock[] }) {
  const [newest] = blocks;
  const peers = useLoadedAtHead(() => call<string>("net_peerCount"), []);
  const pool = useLoadedAtHead(() => call<PoolStatus>("txpool_status"), []);
  const transactions = blocks.slice(0, PLOTTED).reduce((sum, block) => sum + block.transactions, 0);
  const spacing = spacingOf(blocks.slice(0, PLOTTED));
  const perSecond = spacing === undefined ? 0 : transactions / (spacing * Math.min(PLOTTED, blocks.length));
  return (
    <dl class="figures">
      <Figure name="Block time" note={`mean of ${Math.min(PLOTTED, blocks.length)} blocks`}>
        {spacing === undefined ? "–" : `${spacing.toFixed(1)} s`}
      </Figure>
      <Figure name="Transactions" note="a second">
        {perSecond < 10 ? perSecond.toFixed(1) : showNumber(perSecond)}
      </Figure>
      <Figure name="Gas used" note={newest && `of ${showShort(newest.gasLimit)}`}>
        {newest === undefined ? "–" : showPercent(newest.gasUsed, newest.gasLimit)}
      </Figure>
      <Figure name="Pool" note={`pending${queuedNote(pool.value)}`}>
        {pool.value === undefined ? "–" : <a href="/pool">{showNumber(Number(pool.value.pending))}</a>}
      </Figure>
      <Figure name="Peers" note={peers.error === undefined ? "connected" : "peer-to-peer is off"}>
        {peers.value === undefined ? "–" : showNumber(Number(peers.value))}
      </Figure>
    </dl>
  );
}

interface PoolStatus {
  readonly pending: string;
  readonly queued: string;
}

function queuedNote(pool: PoolStatus | undefined): string {
  const queued = Number(pool?.queued ?? 0);
  return queued === 0 ? "" : `, ${showNumber(queued)} queued`;
}

/** Average time between two blocks, seconds. */
function spacingOf(blocks: readonly RecentBlock[]): number | undefined {
  const first = blocks.at(-1);
  const [last] = blocks;
  if (first === undefined || last === undefined || first === last) return undefined;
  return (last.timestamp - first.timestamp) / (last.number - first.number);
}

function Plots({ blocks }: { readonly blocks: readonly RecentBlock[] }) {
  const inOrder = blocks.toReversed();
  const x = inOrder.map(({ number }) => number);
  const transactions = inOrder.map((block) => block.transactions);
  const gas = inOrder.map((block) => block.gasUsed);
  const span = `the last ${blocks.length} blocks`;
  return (
    <>
      <Panel title="Transactions per block">
        <Plot
          x={x}
          y={transactions}
          show={showShort}
          label={`Transactions in each of ${span}: at most ${showNumber(Math.max(...transactions))}`}
        />
      </Panel>
      <Panel title="Gas per block">
        <Plot
          x={x}
          y={gas}
          show={showShort}
          label={`Gas used by each of ${span}: at most ${showNumber(Math.max(...gas))}`}
        />
      </Panel>
    </>
  );
}

function NewestBlocks({ blocks }: { readonly blocks: readonly RecentBlock[] }) {
  return (
    <Panel title="Newest blocks" aside={<a href="/blocks">All blocks</a>}>
      <BlockTable blocks={blocks} />
    </Panel>
  );
}

/** The newest transactions of the newest blocks; absent if none of those has any. */
function NewestTransactions({ blocks }: { readonly blocks: readonly RecentBlock[] }) {
  const full = blocks.filter(({ transactions }) => transactions > 0).slice(0, LISTED_TRANSACTIONS);
  const [newest] = full;
  const rows = useLoaded(() => loadNewest(full, LISTED_TRANSACTIONS), [newest?.hash]);
  if (rows.value === undefined || rows.value.length === 0) return null;
  return (
    <Panel title="Newest transactions">
      <TransactionTable rows={rows.value} caption="The newest transactions, the newest first" />
    </Panel>
  );
}
