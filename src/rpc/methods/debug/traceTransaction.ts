import { defineMethod, required } from "../../method.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { EVERYTHING, TRACE_OPTIONS } from "../../parameters/traceParameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { HASH, OBJECT, orNull } from "../../schemas.ts";

/**
 * Differs from Besu, which leaves out the earlier transactions of the block (architecture.md#rulings).
 */
export const debugTraceTransaction = defineMethod({
  name: "debug_traceTransaction",
  namespace: "DEBUG",
  summary: "Executes a mined transaction again at its position in its block and returns every instruction.",
  parameters: [required("transaction", decodeHash, HASH), TRACE_OPTIONS],
  result: { name: "trace", schema: orNull(OBJECT) },
  ports: ["chain", "tracer"],
  async run([hash, style = EVERYTHING], context) {
    const { chain, tracer } = context.backend;
    const found = chain.transactionByHash(hash);
    if (found === undefined) return null;
    const { block, index } = found;
    return traceAnswer(
      await tracer.run({ kind: "debugBlock", block: { number: block.header.number }, index, style }, context),
    );
  },
});
