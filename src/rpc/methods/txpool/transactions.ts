import { toHex } from "../../../primitives/hex.ts";
import type { PackedEntries } from "../../core/core.ts";
import { LISTING_BYTES } from "../../core/listingLimit.ts";
import { unpackTransactions } from "../../core/packedTransactions.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, optional } from "../../method.ts";
import { decodeJavaLong } from "../../parameters/parameters.ts";
import { decodePoolFilter, POOL_FILTER } from "../../parameters/poolFilterParameter.ts";
import { writePendingTransaction } from "../../results/transactionResult.ts";
import { INTEGER, listOf, OBJECT } from "../../schemas.ts";
import { listingAnswer } from "./listingAnswer.ts";

/** Pool listings (json-rpc.md#txpool), under client-neutral names and Besu's. */

export const txpoolTransactions = defineMethod({
  name: "txpool_nodeTransactions",
  aliases: ["txpool_besuTransactions"],
  namespace: "TXPOOL",
  summary: "Hash, origin and time of arrival of all pooled transactions.",
  parameters: [],
  result: { name: "transactions", schema: listOf(OBJECT) },
  ports: ["pool"],
  async run(_, context) {
    const entries = await context.backend.pool.entries(MOST_ENTRIES, context);
    if (entries === "tooMany") return ERRORS.listingTooLarge;
    const { length } = entries.areLocal;
    return listingAnswer(length * ENTRY_BYTES, function* (writer) {
      writer.beginList();
      for (let index = 0; index < length; index++) {
        writer.members(entryJson(entries, index));
        yield;
      }
      writer.endList();
    });
  },
});

/** Longest text of an entry. */
const ENTRY_BYTES = 180;

const MOST_ENTRIES = Math.floor(LISTING_BYTES / ENTRY_BYTES);

function entryJson({ hashes, areLocal, addedAtMs }: PackedEntries, index: number): string {
  const hash = toHex(hashes.subarray(32 * index, 32 * (index + 1)));
  const time = new Date(addedAtMs[index] ?? 0).toISOString();
  return `{"hash":"${hash}","isReceivedFromLocalSource":${areLocal[index] === 1},"addedToPoolAt":"${time}"}`;
}

export const txpoolStatistics = defineMethod({
  name: "txpool_nodeStatistics",
  aliases: ["txpool_besuStatistics"],
  namespace: "TXPOOL",
  summary: "How many transactions are pooled, by origin.",
  parameters: [],
  result: { name: "statistics", schema: OBJECT },
  ports: ["pool", "settings"],
  async run(_, context) {
    const { pool, settings } = context.backend;
    const { local, remote } = await pool.statistics(context);
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
  async run([limit = Number.POSITIVE_INFINITY, filter = []], context) {
    if (limit < 0) return ERRORS.internalError;
    const matching = await context.backend.pool.matching(filter, limit, LISTING_BYTES, context);
    if (matching === "tooLarge") return ERRORS.listingTooLarge;
    return listingAnswer(
      matching.shownBytes,
      function* (writer) {
        writer.beginList();
        for (const transaction of unpackTransactions(matching.transactions)) {
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
