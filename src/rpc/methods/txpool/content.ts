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
import { LISTING_BYTES, shortestWithin, shownBytes } from "./listingLimit.ts";

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
  run: ([address], context) =>
    listing(context, pooledTransactionJson, {
      isWanted: (sender) => equalBytes(sender, address),
      join: ([own]) => own?.[1] ?? "{}",
    }),
});

interface Sender {
  readonly address: Address;
  readonly pending: SentTransaction[];
  readonly queued: SentTransaction[];
}

async function sendersOf(
  pool: RpcPool,
  isWanted: (sender: Address) => boolean,
  slice: EventLoopSlice,
): Promise<readonly Sender[]> {
  const senders = new Map<string, Sender & { readonly next: bigint }>();
  for (const { transaction } of [...pool.entries()]) {
    const { sender: address, nonce } = transaction;
    if (!isWanted(address)) continue;
    const key = toKey(address);
    const sender = senders.get(key) ?? { address, pending: [], queued: [], next: pool.nextNonce(address) };
    senders.set(key, sender);
    (nonce < sender.next ? sender.pending : sender.queued).push(transaction);
    if (slice.isOver) await slice.yield();
  }
  return [...senders.values()].sort((a, b) => compareBytes(a.address, b.address));
}

/**
 * A listing has at most LISTING_BYTES. Of a larger pool it shows pending transactions before queued ones, the shortest first,
 * and `omitted` counts the others; the member is absent where there are none.
 */
async function listing(
  context: ContextOf<"pool">,
  show: (transaction: SentTransaction) => string,
  { isWanted, join }: Senders = ALL_SENDERS,
): Promise<RawJson> {
  const slice = new EventLoopSlice();
  const senders = await sendersOf(context.backend.pool, isWanted, slice);
  const pending = new SubPoolListing(senders, ({ pending }) => pending);
  const queued = new SubPoolListing(senders, ({ queued }) => queued);
  const writing = { show, slice, isAbandoned: () => context.isAbandoned() };
  const pendingText = join(await pending.texts(LISTING_BYTES, writing));
  const queuedText = join(await queued.texts(Math.max(0, LISTING_BYTES - pending.bytes), writing));
  const omitted =
    pending.omitted + queued.omitted === 0
      ? ""
      : `,"omitted":{"pending":"${toQuantity(pending.omitted)}","queued":"${toQuantity(queued.omitted)}"}`;
  return new RawJson(`{"pending":${pendingText},"queued":${queuedText}${omitted}}`);
}

/** A sender, and its transactions as a JSON object by nonce. */
type SenderText = readonly [Address, string];

interface Senders {
  readonly isWanted: (sender: Address) => boolean;
  readonly join: (senders: readonly SenderText[]) => string;
}

const ALL_SENDERS: Senders = {
  isWanted: () => true,
  join: (senders) => `{${senders.map(([address, text]) => `"${toHex(address)}":${text}`).join(",")}}`,
};

interface Writing {
  readonly show: (transaction: SentTransaction) => string;
  readonly slice: EventLoopSlice;
  readonly isAbandoned: () => boolean;
}

/** The senders' transactions of one sub-pool, by sender and nonce. */
class SubPoolListing {
  /** Of all transactions, with those that will be left out. */
  readonly bytes: number;
  omitted = 0;
  private readonly senders: readonly (readonly [Address, readonly SentTransaction[]])[];

  constructor(senders: readonly Sender[], transactionsOf: (sender: Sender) => readonly SentTransaction[]) {
    this.senders = senders.map((sender) => [sender.address, transactionsOf(sender)] as const);
    let bytes = 0;
    for (const size of this.sizes()) bytes += size;
    this.bytes = bytes;
  }

  async texts(limitBytes: number, { show, slice, isAbandoned }: Writing): Promise<readonly SenderText[]> {
    const isShown = shortestWithin(limitBytes, this.sizes());
    const senders: SenderText[] = [];
    for (const [address, transactions] of this.senders) {
      const byNonce: string[] = [];
      for (const transaction of transactions.toSorted((a, b) => (a.nonce < b.nonce ? -1 : 1))) {
        if (slice.isOver) await slice.yield();
        if (isAbandoned()) return [];
        if (isShown(shownBytes(transaction))) byNonce.push(`"${transaction.nonce}":${show(transaction)}`);
        else this.omitted++;
      }
      if (byNonce.length > 0) senders.push([address, `{${byNonce.join(",")}}`]);
    }
    return senders;
  }

  private *sizes(): Generator<number> {
    for (const [, transactions] of this.senders) {
      for (const transaction of transactions) yield shownBytes(transaction);
    }
  }
}

function summaryOf(transaction: SentTransaction): string {
  const { to, value, gasLimit } = transaction;
  const recipient = to === undefined ? "contract creation" : toHex(to);
  return `${recipient}: ${value} wei + ${gasLimit} gas × ${feeCap(transaction)} wei`;
}
