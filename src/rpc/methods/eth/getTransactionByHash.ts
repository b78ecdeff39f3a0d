import type { PoolEntry } from "../../../txpool/entry.ts";
import { defineMethod, RawJson, required } from "../../method.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { pendingTransactionJson, transactionAnswer } from "../../results/transactionResult.ts";
import { HASH, OBJECT, orNull } from "../../schemas.ts";

export const ethGetTransactionByHash = defineMethod({
  name: "eth_getTransactionByHash",
  namespace: "ETH",
  summary: "A transaction that is in the pool or in a block.",
  parameters: [required("hash", decodeHash, HASH)],
  exactParams: 1,
  result: { name: "transaction", schema: orNull(OBJECT) },
  ports: ["chain", "pool"],
  run([hash], { backend: { chain, pool } }) {
    // The chain first, because a thread that answers callers has it, and has to ask for the pool.
    const located = chain.transactionByHash(hash);
    if (located !== undefined) return transactionAnswer(located);
    const text = pendingJson(pool.get(hash));
    return text === undefined ? null : new RawJson(text);
  },
});

function pendingJson(entry: PoolEntry | undefined): string | undefined {
  return entry && pendingTransactionJson(entry.transaction);
}
