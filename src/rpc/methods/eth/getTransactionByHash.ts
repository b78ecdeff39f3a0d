import type { Hash } from "../../../primitives/hash.ts";
import { unpackTransactions } from "../../core/packedTransactions.ts";
import { type ContextOf, defineMethod, RawJson, required } from "../../method.ts";
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
  run([hash], context) {
    // The chain first: it is at hand.
    const located = context.backend.chain.transactionByHash(hash);
    return located === undefined ? pooled(hash, context) : transactionAnswer(located);
  },
});

async function pooled(hash: Hash, context: ContextOf<"pool">): Promise<RawJson | null> {
  const [transaction] = unpackTransactions(await context.backend.pool.transaction(hash, context));
  return transaction === undefined ? null : new RawJson(pendingTransactionJson(transaction));
}
