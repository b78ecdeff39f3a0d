import { useMemo, useRef } from "preact/hooks";
import { call } from "../chain/connection.ts";
import { type Loaded, useLoaded, useLoadedAtHead } from "../chain/hooks.ts";
import type { CallFrame, Receipt, Transaction } from "../chain/types.ts";
import { showText } from "../format.ts";
import { Copy } from "../parts/copy.tsx";
import { Loading, Problem } from "../parts/notices.tsx";
import { OldBlocksNote } from "../parts/oldBlocks.tsx";
import type { ViewProps } from "../router.ts";
import { AccessList } from "./transaction/accessList.tsx";
import { Authorizations } from "./transaction/authorizations.tsx";
import { CallTree } from "./transaction/callTree.tsx";
import { Input } from "./transaction/input.tsx";
import { Logs } from "./transaction/logs.tsx";
import { StateChanges } from "./transaction/stateChanges.tsx";
import { Summary } from "./transaction/summary.tsx";
import { Transfers } from "./transaction/transfers.tsx";

/** A transaction by its hash, from the pool to its state changes. */
export function TransactionView({ route }: ViewProps) {
  const hash = route.parts[1] ?? "";
  const found = useTransaction(hash);
  const { value } = found;
  // A mined transaction does not change with later blocks.
  const details = useMemo(() => value && <Details {...value} />, [value]);
  if (found.error !== undefined) return <Problem error={found.error} />;
  if (value === undefined) return <Loading />;
  return details ?? <NoTransaction hash={hash} />;
}

function Details({ transaction, receipt }: Found) {
  const { hash } = transaction;
  const traced = useLoaded(
    () => call<CallFrame>("debug_traceTransaction", [hash, { tracer: "callTracer" }]),
    [hash],
    receipt !== null,
  );
  return (
    <article class="page">
      <header class="title">
        <p class="kicker">Transaction</p>
        <h1 class="long">
          <span class="hex">{hash}</span> <Copy text={hash} what="the hash" />
        </h1>
      </header>
      <Summary transaction={transaction} receipt={receipt} frame={traced.value} />
      <Input transaction={transaction} />
      <Authorizations list={transaction.authorizationList ?? []} />
      <AccessList list={transaction.accessList ?? []} />
      {receipt !== null && (
        <>
          <CallTree traced={traced} />
          <Transfers receipt={receipt} />
          <Logs logs={receipt.logs} />
          <StateChanges hash={hash} />
        </>
      )}
    </article>
  );
}

/** Loads the transaction, again with each block until it is in one, which is final. */
function useTransaction(hash: string): Loaded<Found | null> {
  const kept = useRef<Found | null>(null);
  return useLoadedAtHead(async () => {
    if (kept.current === null || kept.current.receipt === null)
      kept.current = /^0x[0-9a-f]{64}$/i.test(hash) ? await transactionOf(hash) : null;
    return kept.current;
  }, [hash]);
}

interface Found {
  readonly transaction: Transaction;
  readonly receipt: Receipt | null;
}

async function transactionOf(hash: string): Promise<Found | null> {
  const [transaction, receipt] = await Promise.all([
    call<Transaction | null>("eth_getTransactionByHash", [hash]),
    call<Receipt | null>("eth_getTransactionReceipt", [hash]),
  ]);
  return transaction && { transaction, receipt };
}

function NoTransaction({ hash }: { readonly hash: string }) {
  return (
    <article class="page narrow">
      <h1>No such transaction</h1>
      <p>
        Neither the chain nor the pool of this node has <code>{showText(hash, 80)}</code>.
      </p>
      <OldBlocksNote wanted={hash} what="a transaction of an older block" />
    </article>
  );
}
