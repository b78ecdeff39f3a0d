import type { Address } from "../../../primitives/address.ts";
import { equalBytes, toHex } from "../../../primitives/hex.ts";
import type { JsonWriter } from "../../../primitives/jsonWriter.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { feeCap, type SentTransaction } from "../../../types/transaction.ts";
import { LISTING_BYTES } from "../../core/listingLimit.ts";
import { unpackTransactions } from "../../core/packedTransactions.ts";
import { type ContextOf, defineMethod, type JsonStream, type RawJson, required } from "../../method.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { writePooledTransaction } from "../../results/transactionResult.ts";
import { ADDRESS, OBJECT } from "../../schemas.ts";
import { listingAnswer } from "./listingAnswer.ts";

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
  mayOverlap: "many",
  async run(_, context) {
    const { pending, queued } = await context.backend.pool.statistics(context);
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
  run: (_, context) => listing(context, writePooledTransaction),
});

export const txpoolInspect = defineMethod({
  name: "txpool_inspect",
  namespace: "TXPOOL",
  summary: "All pooled transactions as one line each, by pending or queued, sender and nonce.",
  parameters: [],
  result: { name: "content", schema: OBJECT },
  ports: ["pool"],
  run: (_, context) => listing(context, writeSummary),
});

export const txpoolContentFrom = defineMethod({
  name: "txpool_contentFrom",
  namespace: "TXPOOL",
  summary: "A sender's pooled transactions in full, by pending or queued, and nonce.",
  parameters: [required("address", decodeAddress, ADDRESS)],
  result: { name: "content", schema: OBJECT },
  ports: ["pool"],
  run: ([address], context) => listing(context, writePooledTransaction, address),
});

/**
 * A listing has at most LISTING_BYTES. Of a larger pool it shows pending transactions before queued ones, the shortest first,
 * and `omitted` counts the others; the member is absent where there are none. That of one sender has its transactions alone.
 */
async function listing(
  context: ContextOf<"pool">,
  write: WriteTransaction,
  sender?: Address,
): Promise<RawJson | JsonStream> {
  const { pending, queued } = await context.backend.pool.bySender(sender, LISTING_BYTES, context);
  const writeSubPool = sender === undefined ? writeBySender : writeByNonce;
  return listingAnswer(pending.shownBytes + queued.shownBytes, function* (writer) {
    writer.beginObject();
    for (const [name, { transactions }] of [["pending", pending] as const, ["queued", queued] as const]) {
      writer.beginObject(name);
      yield* writeSubPool(writer, unpackTransactions(transactions), write);
      writer.endObject();
    }
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

function* writeByNonce(
  writer: JsonWriter,
  transactions: Iterable<SentTransaction>,
  write: WriteTransaction,
): Generator<void, void> {
  for (const transaction of transactions) {
    yield* write(writer, transaction, `${transaction.nonce}`);
    yield;
  }
}

/** Writes an object for each sender, whose transactions stand together. */
function* writeBySender(
  writer: JsonWriter,
  transactions: Iterable<SentTransaction>,
  write: WriteTransaction,
): Generator<void, void> {
  let current: Address | undefined;
  for (const transaction of transactions) {
    const { sender, nonce } = transaction;
    if (current === undefined || !equalBytes(sender, current)) {
      if (current !== undefined) writer.endObject();
      writer.beginObject(toHex(sender));
      current = sender;
    }
    yield* write(writer, transaction, `${nonce}`);
    yield;
  }
  if (current !== undefined) writer.endObject();
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
