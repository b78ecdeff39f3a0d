import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeHash, decodeJavaLong, decodeList } from "../../parameters/parameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { GIVEN_QUANTITY, HASH, listOf, OBJECT, orNull } from "../../schemas.ts";

export const traceTransaction = defineMethod({
  name: "trace_transaction",
  namespace: "TRACE",
  summary: "The calls, contract creations and self-destructs in a mined transaction.",
  parameters: [required("transaction", decodeHash, HASH)],
  result: { name: "traces", schema: listOf(OBJECT) },
  ports: ["chain", "tracer"],
  async run([hash], context) {
    const { chain, tracer } = context.backend;
    const found = chain.transactionByHash(hash);
    if (found === undefined) return [];
    const { block, index } = found;
    return traceAnswer(
      await tracer.run({ kind: "transaction", blockNumber: block.header.number, index }, context),
    );
  },
});

/** Decodes the path in the method, because a JSON number in it is -32603, not -32602. */
export const traceGet = defineMethod({
  name: "trace_get",
  namespace: "TRACE",
  summary: "One trace of a mined transaction, by its trace address.",
  parameters: [
    required("transaction", decodeHash, HASH),
    required(
      "path",
      decodeList<unknown>((item) => item ?? null),
      listOf(GIVEN_QUANTITY),
    ),
  ],
  exactParams: 2,
  result: { name: "trace", schema: orNull(OBJECT) },
  ports: ["chain", "tracer"],
  async run([hash, items], context) {
    const { chain, tracer } = context.backend;
    const path = decodeList(decodeIndexText)(items);
    if (path === undefined) return ERRORS.internalError;
    const found = chain.transactionByHash(hash);
    if (found === undefined) return null;
    const { block, index } = found;
    return traceAnswer(
      await tracer.run({ kind: "transaction", blockNumber: block.header.number, index, path }, context),
    );
  },
});

function decodeIndexText(value: unknown): number | undefined {
  const number = decodeJavaLong(value);
  return number === undefined ? undefined : Number(number);
}
