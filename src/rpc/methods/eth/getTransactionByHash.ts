import type { LocatedTransaction } from "../../../chain/chainReader.ts";
import { onceKnown } from "../../../primitives/eventual.ts";
import type { Hash } from "../../../primitives/hash.ts";
import type { SentTransaction } from "../../../types/transaction.ts";
import { unpackTransactions } from "../../core/packedTransactions.ts";
import { type ContextOf, defineMethod, required } from "../../method.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { dataAnswer } from "../../results/dataAnswer.ts";
import { pendingTransactionAnswer, transactionAnswer } from "../../results/transactionResult.ts";
import { DATA, HASH, OBJECT, orNull } from "../../schemas.ts";

export const ethGetTransactionByHash = defineMethod({
  name: "eth_getTransactionByHash",
  namespace: "ETH",
  summary: "A transaction that is in the pool or in a block.",
  parameters: [required("hash", decodeHash, HASH)],
  exactParams: 1,
  result: { name: "transaction", schema: orNull(OBJECT) },
  ports: ["chain", "newestHead", "pool"],
  run: ([hash], context) =>
    onceKnown(findTransaction(hash, context), (found) => {
      if (found === undefined) return null;
      return found.kind === "mined"
        ? transactionAnswer(found.located)
        : pendingTransactionAnswer(found.transaction);
    }),
});

/** Works as in go-ethereum, also for an unknown transaction; Besu has no such method. */
export const ethGetRawTransactionByHash = defineMethod({
  name: "eth_getRawTransactionByHash",
  namespace: "ETH",
  summary: "The bytes of a transaction that is in the pool or in a block.",
  parameters: [required("hash", decodeHash, HASH)],
  result: { name: "transaction", schema: DATA },
  ports: ["chain", "newestHead", "pool"],
  run: ([hash], context) =>
    onceKnown(findTransaction(hash, context), (found) => {
      if (found === undefined) return "0x";
      return dataAnswer(found.kind === "mined" ? found.located.transaction.raw : found.transaction.raw);
    }),
});

type Found =
  | { readonly kind: "mined"; readonly located: LocatedTransaction }
  | { readonly kind: "pooled"; readonly transaction: SentTransaction };

/** The transaction with that hash, in a block or in the pool; undefined when it is in neither. */
function findTransaction(
  hash: Hash,
  context: ContextOf<"chain" | "newestHead" | "pool">,
): Found | Promise<Found | undefined> {
  // The chain first: it is at hand.
  return findMined(hash, context) ?? findPooled(hash, context);
}

function findMined(hash: Hash, { backend }: ContextOf<"chain">): Found | undefined {
  const located = backend.chain.transactionByHash(hash);
  return located && { kind: "mined", located };
}

/** A block that the pool has heard of meanwhile may have taken the transaction out of it: then the chain has it by now. */
async function findPooled(
  hash: Hash,
  context: ContextOf<"chain" | "newestHead" | "pool">,
): Promise<Found | undefined> {
  const [transaction] = unpackTransactions(await context.backend.pool.transaction(hash, context));
  if (transaction !== undefined) return { kind: "pooled", transaction };
  await context.backend.newestHead();
  return findMined(hash, context);
}
