import { defineMethod, required } from "../../method.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { decodeTraceTypes, TRACE_TYPES } from "../../parameters/traceParameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { HASH, OBJECT, orNull } from "../../schemas.ts";

/** Beyond Besu, as other clients have it: the item of trace_replayBlockTransactions that belongs to the transaction. */
export const traceReplayTransaction = defineMethod({
  name: "trace_replayTransaction",
  namespace: "TRACE",
  summary: "Executes a mined transaction again, where it stands in its block, and shows what happens.",
  parameters: [required("transaction", decodeHash, HASH), required("types", decodeTraceTypes, TRACE_TYPES)],
  result: { name: "result", schema: orNull(OBJECT) },
  async run([hash, types], context) {
    const { chain, tracer } = context.backend;
    const found = chain.transactionByHash(hash);
    if (found === undefined) return null;
    const { block, index } = found;
    return traceAnswer(
      await tracer.run({ kind: "replay", blockNumber: block.header.number, index, types }, context),
    );
  },
});
