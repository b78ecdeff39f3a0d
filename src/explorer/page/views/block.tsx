import { call } from "../chain/connection.ts";
import { useLoaded } from "../chain/hooks.ts";
import { useFirstWholeBlock } from "../chain/oldBlocks.ts";
import { hexOf, type RoundRow } from "../chain/recentBlocks.ts";
import { loadTransactions } from "../chain/transactions.ts";
import type { Block } from "../chain/types.ts";
import { numberOf, showBytes, showGwei, showNumber, showPercent, showText, showTime } from "../format.ts";
import { Age } from "../parts/age.tsx";
import { Copy } from "../parts/copy.tsx";
import { Field, Fields } from "../parts/fields.tsx";
import { AccountLink } from "../parts/links.tsx";
import { Empty, Loading, Problem } from "../parts/notices.tsx";
import { OldBlocksNote } from "../parts/oldBlocks.tsx";
import { Pager } from "../parts/pager.tsx";
import { Panel } from "../parts/panel.tsx";
import { TransactionTable } from "../parts/transactionTable.tsx";
import type { ViewProps } from "../router.ts";

/** Number of transactions on one page of the list. */
const PAGE = 25;

/** A block by its number or hash. */
export function BlockView({ route }: ViewProps) {
  const wanted = route.parts[1] ?? "";
  const page = Math.max(0, Math.floor(Number(route.query.get("page") ?? 0)) || 0);
  const found = useLoaded(() => blockOf(wanted), [wanted]);
  const { value: block } = found;
  if (found.error !== undefined) return <Problem error={found.error} />;
  if (block === undefined) return <Loading />;
  if (block === null) return <NoBlock wanted={wanted} />;
  const number = Number(block.number);
  return (
    <article class="page">
      <BlockTitle number={number} />
      <BlockFields block={block} />
      <Transactions block={block} page={page} />
    </article>
  );
}

function BlockTitle({ number }: { readonly number: number }) {
  return (
    <header class="title">
      <p class="kicker">Block</p>
      <h1>{showNumber(number)}</h1>
      <Pager
        newer={number > 0 ? `/block/${number - 1}` : undefined}
        older={`/block/${number + 1}`}
        names={["Previous", "Next"]}
      />
    </header>
  );
}

function blockOf(wanted: string): Promise<Block | null> {
  if (/^0x[0-9a-f]{64}$/i.test(wanted)) return call("eth_getBlockByHash", [wanted, false]);
  if (/^\d{1,15}$/.test(wanted)) return call("eth_getBlockByNumber", [hexOf(Number(wanted)), false]);
  return Promise.resolve(null);
}

/** A block that the node does not find: it does not exist yet, is unknown, or only its header is left. */
function NoBlock({ wanted }: { readonly wanted: string }) {
  const whole = useFirstWholeBlock(wanted);
  if (whole.isLoading) return <Loading />;
  const { value: first = 0 } = whole;
  const number = /^\d{1,15}$/.test(wanted) ? Number(wanted) : undefined;
  if (number !== undefined && number < first) return <OldBlock number={number} first={first} />;
  return (
    <article class="page narrow">
      <h1>No such block</h1>
      <p>
        {number === undefined ? "This node knows no block " : "This chain has no block "}
        <code>{showText(wanted, 80)}</code>
        {number === undefined ? "." : " yet."}
      </p>
      {number === undefined && <OldBlocksNote wanted={wanted} what="an older block" />}
    </article>
  );
}

/** The header of a block whose transactions and receipts this node does not have. */
function OldBlock({ number, first }: { readonly number: number; readonly first: number }) {
  const rounds = useLoaded(
    () => call<readonly RoundRow[]>("ibft_getRounds", [hexOf(number), "0x1"]),
    [number],
  );
  const row = rounds.value?.[0];
  return (
    <article class="page">
      <BlockTitle number={number} />
      <p>
        This node has whole blocks from {showNumber(first)} on; of this one it has the header alone, if that.
        Its transactions are on the chain, and another node that keeps all blocks has them.
      </p>
      {row !== undefined && (
        <Panel title="Header">
          <Fields>
            <Field name="Time">{showTime(Number(row.timestamp))}</Field>
            <Field name="Proposer">
              <AccountLink address={row.proposer} isWhole />
            </Field>
            <Decided row={row} />
            <Field name="Gas used">{showNumber(Number(row.gasUsed))}</Field>
            <Field name="Hash">
              <code>{row.hash}</code> <Copy text={row.hash} what="the hash" />
            </Field>
          </Fields>
        </Panel>
      )}
    </article>
  );
}

function Decided({ row }: { readonly row: RoundRow }) {
  return (
    <Field name="Decided">
      in round {Number(row.round)} of {Number(row.validatorCount)} validators
      {row.vote !== null && (
        <>
          , with a vote to {row.vote.kind} <AccountLink address={row.vote.address} />
        </>
      )}
    </Field>
  );
}

function BlockFields({ block }: { readonly block: Block }) {
  const rounds = useLoaded(
    () => call<readonly RoundRow[]>("ibft_getRounds", [block.number, "0x1"]),
    [block.hash],
  );
  const row = rounds.value?.[0];
  const timestamp = Number(block.timestamp);
  return (
    <Panel title="Summary">
      <Fields>
        <Field name="Time">
          {showTime(timestamp)}{" "}
          <span class="note">
            (<Age timestamp={timestamp} />)
          </span>
        </Field>
        <Field name="Proposer">
          <AccountLink address={block.miner} isWhole />
        </Field>
        {row !== undefined && <Decided row={row} />}
        <Field name="Gas used">
          {showNumber(Number(block.gasUsed))}{" "}
          <span class="note">
            {showPercent(Number(block.gasUsed), Number(block.gasLimit))} of{" "}
            {showNumber(Number(block.gasLimit))}
          </span>
        </Field>
        {block.baseFeePerGas !== undefined && <Field name="Base fee">{showGwei(block.baseFeePerGas)}</Field>}
        <Field name="Size">{showBytes(numberOf(block.size))}</Field>
        <Field name="Hash">
          <code>{block.hash}</code> <Copy text={block.hash} what="the hash" />
        </Field>
        <Field name="Parent">
          <a class="hex" href={`/block/${block.parentHash}`}>
            {block.parentHash}
          </a>
        </Field>
        <Field name="State root">
          <code>{block.stateRoot}</code>
        </Field>
      </Fields>
    </Panel>
  );
}

function Transactions({ block, page }: { readonly block: Block; readonly page: number }) {
  const { transactions: hashes } = block;
  const first = page * PAGE;
  const rows = useLoaded(() => loadTransactions(hashes.slice(first, first + PAGE)), [block.hash, page]);
  const path = `/block/${Number(block.number)}`;
  return (
    <Panel title="Transactions" aside={showNumber(hashes.length)}>
      {hashes.length === 0 && <Empty>This block has no transactions.</Empty>}
      {rows.error !== undefined && <Problem error={rows.error} />}
      {rows.value !== undefined && rows.value.length > 0 && (
        <TransactionTable
          rows={rows.value}
          caption={`Transactions ${first + 1} and following of the block`}
        />
      )}
      <Pager
        newer={page > 0 ? `${path}?page=${page - 1}` : undefined}
        older={first + PAGE < hashes.length ? `${path}?page=${page + 1}` : undefined}
        names={["Previous", "Next"]}
      />
    </Panel>
  );
}
