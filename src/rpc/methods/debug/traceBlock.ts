import type { DebugStyle } from "../../../tracers/traceJob.ts";
import { decodeBlock } from "../../../types/block.ts";
import { ERRORS, invalidParams, RpcError } from "../../errors/errors.ts";
import { type ContextOf, defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { decodeData, decodeHash, decodeText } from "../../parameters/parameters.ts";
import { EVERYTHING, TRACE_OPTIONS } from "../../parameters/traceParameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { GIVEN_DATA, HASH, listOf, NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

const TRACES = { name: "traces", schema: orNull(listOf(OBJECT)) };

export const debugTraceBlockByNumber = defineMethod({
  name: "debug_traceBlockByNumber",
  namespace: "DEBUG",
  summary: "Executes the transactions of a block again and returns every instruction.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG), TRACE_OPTIONS],
  result: TRACES,
  ports: ["chain", "tracer"],
  async run([choice, style = EVERYTHING], context) {
    const block = findBlock(context.backend.chain, choice);
    if (block instanceof RpcError) return block;
    return tracesOf(context, block?.header.number, style);
  },
});

export const debugTraceBlockByHash = defineMethod({
  name: "debug_traceBlockByHash",
  namespace: "DEBUG",
  summary: "Executes the transactions of a block again and returns every instruction.",
  parameters: [required("block", decodeHash, HASH), TRACE_OPTIONS],
  result: TRACES,
  ports: ["chain", "tracer"],
  async run([hash, style = EVERYTHING], context) {
    return tracesOf(context, context.backend.chain.headerByHash(hash)?.header.number, style);
  },
});

/** Takes the block as text, because text that is not hex is -32603, and bytes that are not a block are -32602. */
export const debugTraceBlock = defineMethod({
  name: "debug_traceBlock",
  namespace: "DEBUG",
  summary: "Executes the transactions of a block given as RLP and returns every instruction.",
  parameters: [required("block", decodeText, GIVEN_DATA), TRACE_OPTIONS],
  result: TRACES,
  ports: ["chain", "tracer"],
  async run([text, style = EVERYTHING], context) {
    const { chain, tracer } = context.backend;
    const raw = decodeData(text);
    if (raw === undefined) return ERRORS.internalError;
    const decoded = decodeBlock(raw);
    if (!decoded.ok) return invalidParams("parameter 1 (block) is no block in RLP");
    const parent = chain.headerByHash(decoded.value.header.parentHash);
    if (parent === undefined) return ERRORS.parentBlockNotFound;
    return traceAnswer(await tracer.run({ kind: "debugBlock", block: { raw }, style }, context));
  },
});

/**
 * Null for an unknown block. The genesis block executes nothing: Besu answers null for it, and so does Ibex for struct logs. For
 * go-ethereum's tracers, which Besu lacks, the list is empty.
 */
async function tracesOf(context: ContextOf<"tracer">, number: bigint | undefined, style: DebugStyle) {
  if (number === undefined) return null;
  if (number === 0n) return style.kind === "structLogs" ? null : [];
  return traceAnswer(
    await context.backend.tracer.run({ kind: "debugBlock", block: { number }, style }, context),
  );
}
