import type { Address } from "../../../primitives/address.ts";
import { toKey } from "../../../primitives/byteKey.ts";
import { EventLoopSlice } from "../../../primitives/eventLoopSlice.ts";
import { compareBytes, equalBytes, toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { feeCap, type SentTransaction } from "../../../types/transaction.ts";
import { type ContextOf, defineMethod, RawJson, required } from "../../method.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import type { RpcPool } from "../../ports.ts";
import { pooledTransactionJson } from "../../results/transactionResult.ts";
import { ADDRESS, OBJECT } from "../../schemas.ts";

/**
 * The pool as other clients show it; Besu has no such methods. Pending transactions could be mined now, queued ones wait
 * for a lower nonce. Senders are sorted by address, their transactions by nonce.
 */

export const txpoolStatus = defineMethod({
  name: "txpool_status",
  namespace: "TXPOOL",
  summary: "How many transactions are pending and how many are queued.",
  parameters: [],
  result: { name: "status", schema: OBJECT },
  ports: ["pool"],
  run(_, { backend: { pool } }) {
    const { pending, queued } = pool.statistics;
    return { pending: toQuantity(pending), queued: toQuantity(queued) };
  },
});

export const txpoolContent = defineMethod({
  name: "txpool_content",
  namespace: "TXPOOL",
  summary: "All pooled transactions in full, by pending or queued, sender and nonce.",
  parameters: [],
  result: { name: "content", schema: OBJECT },
  ports: ["pool"],
  run: (_, context) => listing(context, pooledTransactionJson),
});

export const txpoolInspect = defineMethod({
  name: "txpool_inspect",
  namespace: "TXPOOL",
  summary: "All pooled transactions as one line each, by pending or queued, sender and nonce.",
  parameters: [],
  result: { name: "content", schema: OBJECT },
  ports: ["pool"],
  run: (_, context) => listing(context, (transaction) => JSON.stringify(summaryOf(transaction))),
});

export const txpoolContentFrom = defineMethod({
  name: "txpool_contentFrom",
  namespace: "TXPOOL",
  summary: "A sender's pooled transactions in full, by pending or queued, and nonce.",
  parameters: [required("address", decodeAddress, ADDRESS)],
  result: { name: "content", schema: OBJECT },
  ports: ["pool"],
  run([address], { backend: { pool } }) {
    const own = sendersOf(pool, (sender) => equalBytes(sender, address))[0];
    const show = (transactions: readonly SentTransaction[] = []): string =>
      byNonce(transactions, pooledTransactionJson);
    return new RawJson(`{"pending":${show(own?.pending)},"queued":${show(own?.queued)}}`);
  },
});

interface Sender {
  readonly address: Address;
  readonly pending: SentTransaction[];
  readonly queued: SentTransaction[];
}

function sendersOf(pool: RpcPool, isWanted: (sender: Address) => boolean): readonly Sender[] {
  const senders = new Map<string, Sender & { readonly next: bigint }>();
  for (const { transaction } of [...pool.entries()]) {
    const { sender: address, nonce } = transaction;
    if (!isWanted(address)) continue;
    const key = toKey(address);
    const sender = senders.get(key) ?? { address, pending: [], queued: [], next: pool.nextNonce(address) };
    senders.set(key, sender);
    (nonce < sender.next ? sender.pending : sender.queued).push(transaction);
  }
  return [...senders.values()].sort((a, b) => compareBytes(a.address, b.address));
}

async function listing(
  context: ContextOf<"pool">,
  show: (transaction: SentTransaction) => string,
): Promise<RawJson> {
  const pending: string[] = [];
  const queued: string[] = [];
  const slice = new EventLoopSlice();
  for (const sender of sendersOf(context.backend.pool, () => true)) {
    const name = `"${toHex(sender.address)}":`;
    if (sender.pending.length > 0) pending.push(name + byNonce(sender.pending, show));
    if (sender.queued.length > 0) queued.push(name + byNonce(sender.queued, show));
    if (slice.isOver) await slice.yield();
    if (context.isAbandoned()) break;
  }
  return new RawJson(`{"pending":{${pending.join(",")}},"queued":{${queued.join(",")}}}`);
}

function byNonce(
  transactions: readonly SentTransaction[],
  show: (transaction: SentTransaction) => string,
): string {
  const sorted = [...transactions].sort((a, b) => (a.nonce < b.nonce ? -1 : 1));
  return `{${sorted.map((transaction) => `"${transaction.nonce}":${show(transaction)}`).join(",")}}`;
}

function summaryOf(transaction: SentTransaction): string {
  const { to, value, gasLimit } = transaction;
  const recipient = to === undefined ? "contract creation" : toHex(to);
  return `${recipient}: ${value} wei + ${gasLimit} gas × ${feeCap(transaction)} wei`;
}
