import { RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { decodeTraceTypes, TRACE_TYPES } from "../../parameters/traceParameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { listOf, NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

export const traceReplayBlockTransactions = defineMethod({
  name: "trace_replayBlockTransactions",
  namespace: "TRACE",
  summary: "Executes the transactions of a block again and returns their traces.",
  parameters: [
    required("block", decodeNumberOrTag, NUMBER_OR_TAG),
    required("types", decodeTraceTypes, TRACE_TYPES),
  ],
  result: { name: "results", schema: orNull(listOf(OBJECT)) },
  ports: ["chain", "tracer"],
  async run([choice, types], context) {
    const { chain, tracer } = context.backend;
    const block = findBlock(chain, choice);
    if (block instanceof RpcError) return block;
    if (block === undefined) return null;
    const { number } = block.header;
    return number === 0n
      ? []
      : traceAnswer(await tracer.run({ kind: "replay", blockNumber: number, types }, context));
  },
});
