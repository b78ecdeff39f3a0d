import { toHex } from "../../../primitives/hex.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import type { PoolEntry } from "../../../txpool/entry.ts";
import type { SentTransaction } from "../../../types/transaction.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, optional } from "../../method.ts";
import { decodeJavaLong } from "../../parameters/parameters.ts";
import { decodePoolFilter, POOL_FILTER } from "../../parameters/poolFilterParameter.ts";
import { writePendingTransaction } from "../../results/transactionResult.ts";
import { INTEGER, listOf, OBJECT } from "../../schemas.ts";
import { listingAnswer } from "./listingAnswer.ts";
import { LISTING_BYTES, shownBytes } from "./listingLimit.ts";

/** Pool listings (json-rpc.md#txpool), under client-neutral names and Besu's. */

export const txpoolTransactions = defineMethod({
  name: "txpool_nodeTransactions",
  aliases: ["txpool_besuTransactions"],
  namespace: "TXPOOL",
  summary: "Hash, origin and time of arrival of all pooled transactions.",
  parameters: [],
  result: { name: "transactions", schema: listOf(OBJECT) },
  ports: ["pool"],
  takesTurns: true,
  run(_, { backend: { pool } }) {
    const { pending, queued } = pool.statistics;
    if ((pending + queued) * ENTRY_BYTES > LISTING_BYTES) return ERRORS.listingTooLarge;
    const entries = [...pool.entries()];
    return listingAnswer(entries.length * ENTRY_BYTES, function* (writer) {
      writer.beginList();
      for (const entry of entries) {
        writer.members(entryJson(entry));
        yield;
      }
      writer.endList();
    });
  },
});

/** Longest text of an entry. */
const ENTRY_BYTES = 180;

function entryJson({ transaction, origin, addedAtMs }: PoolEntry): string {
  const time = new Date(addedAtMs).toISOString();
  return `{"hash":"${toHex(transaction.hash)}","isReceivedFromLocalSource":${origin === "local"},"addedToPoolAt":"${time}"}`;
}

export const txpoolStatistics = defineMethod({
  name: "txpool_nodeStatistics",
  aliases: ["txpool_besuStatistics"],
  namespace: "TXPOOL",
  summary: "How many transactions are pooled, by origin.",
  parameters: [],
  result: { name: "statistics", schema: OBJECT },
  ports: ["pool", "settings"],
  run(_, { backend: { pool, settings } }) {
    const { local, remote } = pool.statistics;
    return { maxSize: settings.poolMaxSize, localCount: local, remoteCount: remote };
  },
});

export const txpoolPendingTransactions = defineMethod({
  name: "txpool_nodePendingTransactions",
  aliases: ["txpool_besuPendingTransactions"],
  namespace: "TXPOOL",
  summary: "Pooled transactions in full that pass a filter, up to a maximum number.",
  parameters: [
    optional("numResults", decodeInteger, INTEGER),
    optional("fields", decodePoolFilter, POOL_FILTER),
  ],
  result: { name: "transactions", schema: listOf(OBJECT) },
  ports: ["pool"],
  takesTurns: true,
  async run([limit = Number.POSITIVE_INFINITY, isWanted = () => true], context) {
    if (limit < 0) return ERRORS.internalError;
    const pacer = new EventLoopPacer();
    const wanted: SentTransaction[] = [];
    let bytes = 0;
    for (const { transaction } of [...context.backend.pool.entries()]) {
      if (pacer.isDue()) await pacer.yield();
      if (wanted.length >= limit) break;
      if (!isWanted(transaction)) continue;
      wanted.push(transaction);
      bytes += shownBytes(transaction) + 2 * transaction.raw.length;
      if (bytes > LISTING_BYTES) return ERRORS.listingTooLarge;
    }
    return listingAnswer(
      bytes,
      function* (writer) {
        writer.beginList();
        for (const transaction of wanted) {
          yield* writePendingTransaction(writer, transaction);
          yield;
        }
        writer.endList();
      },
      KEYS_BYTES,
    );
  },
});

/** The public keys of so many bytes of transactions take some milliseconds. */
const KEYS_BYTES = 48 * 1024;

function decodeInteger(value: unknown): number | undefined {
  const number = typeof value === "number" ? value : Number(decodeJavaLong(value) ?? Number.NaN);
  return Number.isSafeInteger(number) ? number : undefined;
}
