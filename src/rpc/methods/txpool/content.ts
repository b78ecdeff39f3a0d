import type { Address } from "../../../primitives/address.ts";
import { toKey } from "../../../primitives/byteKey.ts";
import { compareBytes, equalBytes, toHex } from "../../../primitives/hex.ts";
import type { JsonWriter } from "../../../primitives/jsonWriter.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { feeCap, type SentTransaction } from "../../../types/transaction.ts";
import { type ContextOf, defineMethod, type JsonStream, type RawJson, required } from "../../method.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import type { RpcPool } from "../../ports.ts";
import { writePooledTransaction } from "../../results/transactionResult.ts";
import { ADDRESS, OBJECT } from "../../schemas.ts";
import { listingAnswer } from "./listingAnswer.ts";
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
  takesTurns: true,
  run: (_, context) => listing(context, writePooledTransaction),
});

export const txpoolInspect = defineMethod({
  name: "txpool_inspect",
  namespace: "TXPOOL",
  summary: "All pooled transactions as one line each, by pending or queued, sender and nonce.",
  parameters: [],
  result: { name: "content", schema: OBJECT },
  ports: ["pool"],
  takesTurns: true,
  run: (_, context) => listing(context, writeSummary),
});

export const txpoolContentFrom = defineMethod({
  name: "txpool_contentFrom",
  namespace: "TXPOOL",
  summary: "A sender's pooled transactions in full, by pending or queued, and nonce.",
  parameters: [required("address", decodeAddress, ADDRESS)],
  result: { name: "content", schema: OBJECT },
  ports: ["pool"],
  takesTurns: true,
  run: ([address], context) => listing(context, writePooledTransaction, address),
});

interface Sender {
  readonly address: Address;
  readonly pending: SentTransaction[];
  readonly queued: SentTransaction[];
}

/** All senders, or the one of that address. */
async function sendersOf(
  pool: RpcPool,
  wanted: Address | undefined,
  pacer: EventLoopPacer,
): Promise<readonly Sender[]> {
  const senders = new Map<string, Sender & { readonly next: bigint }>();
  for (const { transaction } of [...pool.entries()]) {
    if (pacer.isDue()) await pacer.yield();
    const { sender: address, nonce } = transaction;
    if (wanted !== undefined && !equalBytes(address, wanted)) continue;
    const key = toKey(address);
    const sender = senders.get(key) ?? { address, pending: [], queued: [], next: pool.nextNonce(address) };
    senders.set(key, sender);
    (nonce < sender.next ? sender.pending : sender.queued).push(transaction);
  }
  return [...senders.values()].sort((a, b) => compareBytes(a.address, b.address));
}

/**
 * A listing has at most LISTING_BYTES. Of a larger pool it shows pending transactions before queued ones, the shortest first,
 * and `omitted` counts the others; the member is absent where there are none. That of one sender has its transactions alone.
 */
async function listing(
  { backend: { pool } }: ContextOf<"pool">,
  write: WriteTransaction,
  wanted?: Address,
): Promise<RawJson | JsonStream> {
  const pacer = new EventLoopPacer();
  const senders = await sendersOf(pool, wanted, pacer);
  const pending = new SubPoolListing(senders, ({ pending }) => pending);
  const queued = new SubPoolListing(senders, ({ queued }) => queued);
  await pending.select(LISTING_BYTES, pacer);
  await queued.select(Math.max(0, LISTING_BYTES - pending.bytes), pacer);
  const isOfOne = wanted !== undefined;
  return listingAnswer(pending.shownBytes + queued.shownBytes, function* (writer) {
    writer.beginObject();
    yield* pending.write(writer, { name: "pending", isOfOne, write });
    yield* queued.write(writer, { name: "queued", isOfOne, write });
    if (pending.omitted + queued.omitted > 0) {
      writer.beginObject("omitted");
      writer.quantity("pending", pending.omitted);
      writer.quantity("queued", queued.omitted);
      writer.endObject();
    }
    writer.endObject();
  });
}

/** Writes a transaction as a member of that name, with pauses in between. */
type WriteTransaction = (writer: JsonWriter, transaction: SentTransaction, name: string) => Iterable<void>;

interface SubPoolWriting {
  readonly name: string;
  readonly isOfOne: boolean;
  readonly write: WriteTransaction;
}

/** A sender, and some of its transactions. */
type Senders = readonly (readonly [Address, readonly SentTransaction[]])[];

/** The senders' transactions of one sub-pool, by sender and nonce. */
class SubPoolListing {
  /** Bytes of all transactions, including those that are left out. */
  readonly bytes: number;
  omitted = 0;
  /** Bytes of the transactions that are shown. */
  shownBytes = 0;
  private readonly senders: Senders;
  /** Senders with the transactions that are shown. */
  private shown: Senders = [];

  constructor(senders: readonly Sender[], transactionsOf: (sender: Sender) => readonly SentTransaction[]) {
    this.senders = senders.map((sender) => [sender.address, transactionsOf(sender)] as const);
    let bytes = 0;
    for (const size of this.sizes()) bytes += size;
    this.bytes = bytes;
  }

  /** Decides what is shown. */
  async select(limitBytes: number, pacer: EventLoopPacer): Promise<void> {
    const isShown = shortestWithin(limitBytes, this.sizes());
    const shown: [Address, readonly SentTransaction[]][] = [];
    for (const [address, transactions] of this.senders) {
      if (pacer.isDue()) await pacer.yield();
      const byNonce = transactions.toSorted((a, b) => (a.nonce < b.nonce ? -1 : 1));
      const own = byNonce.filter((transaction) => this.admits(shownBytes(transaction), isShown));
      this.omitted += transactions.length - own.length;
      if (own.length > 0) shown.push([address, own]);
    }
    this.shown = shown;
  }

  private admits(bytes: number, isShown: (bytes: number) => boolean): boolean {
    if (!isShown(bytes)) return false;
    this.shownBytes += bytes;
    return true;
  }

  *write(writer: JsonWriter, { name, isOfOne, write }: SubPoolWriting): Generator<void, void> {
    writer.beginObject(name);
    for (const [address, transactions] of this.shown) {
      if (!isOfOne) writer.beginObject(toHex(address));
      for (const transaction of transactions) {
        yield* write(writer, transaction, `${transaction.nonce}`);
        yield;
      }
      if (!isOfOne) writer.endObject();
    }
    writer.endObject();
  }

  private *sizes(): Generator<number> {
    for (const [, transactions] of this.senders) {
      for (const transaction of transactions) yield shownBytes(transaction);
    }
  }
}

/** Writes a transaction as one line of text. The writer takes bytes, each as one character. */
function writeSummary(writer: JsonWriter, transaction: SentTransaction, name: string): Iterable<void> {
  const { to, value, gasLimit } = transaction;
  const recipient = to === undefined ? "contract creation" : toHex(to);
  const line = `${recipient}: ${value} wei + ${gasLimit} gas × ${feeCap(transaction)} wei`;
  writer.members(`"${name}":"${Buffer.from(line).toString("latin1")}"`);
  return NO_PAUSES;
}

const NO_PAUSES: readonly never[] = [];
