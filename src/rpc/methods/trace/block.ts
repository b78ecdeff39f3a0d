import { RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { listOf, NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

export const traceBlock = defineMethod({
  name: "trace_block",
  namespace: "TRACE",
  summary: "The calls, contract creations and self-destructs in a block, and its reward.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG)],
  result: { name: "traces", schema: orNull(listOf(OBJECT)) },
  ports: ["chain", "tracer"],
  async run([choice], context) {
    const { chain, tracer } = context.backend;
    const block = findBlock(chain, choice);
    if (block instanceof RpcError) return block;
    if (block === undefined) return null;
    const { number } = block.header;
    return number === 0n
      ? []
      : traceAnswer(await tracer.run({ kind: "block", blockNumber: number }, context));
  },
});
