import { defineMethod, required } from "../../method.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { decodeTraceTypes, TRACE_TYPES } from "../../parameters/traceParameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { HASH, OBJECT, orNull } from "../../schemas.ts";

/** Not in Besu, but in other clients: the transaction's item of trace_replayBlockTransactions. */
export const traceReplayTransaction = defineMethod({
  name: "trace_replayTransaction",
  namespace: "TRACE",
  summary: "Executes a mined transaction again at its position in its block and returns its traces.",
  parameters: [required("transaction", decodeHash, HASH), required("types", decodeTraceTypes, TRACE_TYPES)],
  result: { name: "result", schema: orNull(OBJECT) },
  ports: ["chain", "tracer"],
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
