import type { OtterscanTrace } from "../../../tracers/otterscanTraces.ts";
import { ERRORS } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, required } from "../../method.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { DATA, HASH, listOf, OBJECT } from "../../schemas.ts";

const TRANSACTION = required("transaction", decodeHash, HASH);

export const otsTraceTransaction = defineMethod({
  name: "ots_traceTransaction",
  namespace: "OTS",
  summary: "The calls, creations and self-destructs of a transaction as a flat list with depths.",
  parameters: [TRANSACTION],
  result: { name: "calls", schema: listOf(OBJECT) },
  ports: ["chain", "tracer"],
  mayOverlap: "few",
  run: ([hash], context) => traced(hash, "calls", context),
});

export const otsGetInternalOperations = defineMethod({
  name: "ots_getInternalOperations",
  namespace: "OTS",
  summary: "Transfers of ether, creations and self-destructs within a transaction.",
  parameters: [TRANSACTION],
  result: { name: "operations", schema: listOf(OBJECT) },
  ports: ["chain", "tracer"],
  mayOverlap: "few",
  run: ([hash], context) => traced(hash, "operations", context),
});

export const otsGetTransactionError = defineMethod({
  name: "ots_getTransactionError",
  namespace: "OTS",
  summary: "The data with which a transaction was reverted; no bytes when it was not.",
  parameters: [TRANSACTION],
  result: { name: "data", schema: DATA },
  ports: ["chain", "tracer"],
  mayOverlap: "few",
  run: ([hash], context) => traced(hash, "error", context),
});

async function traced(
  hash: Parameters<ContextOf<"chain">["backend"]["chain"]["transactionByHash"]>[0],
  trace: OtterscanTrace,
  context: ContextOf<"chain" | "tracer">,
): Promise<Answer> {
  const { chain, tracer } = context.backend;
  const found = chain.transactionByHash(hash);
  if (found === undefined) return ERRORS.transactionNotFound;
  const block = { number: found.block.header.number };
  const style = { kind: "otterscan", trace } as const;
  return traceAnswer(await tracer.run({ kind: "debugBlock", block, index: found.index, style }, context));
}
