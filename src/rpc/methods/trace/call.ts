import { toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import type { ParityTypes } from "../../../tracers/parityTrace.ts";
import type { TracedCall } from "../../../tracers/traceJob.ts";
import { createdAddress } from "../../../types/createdAddress.ts";
import { decodeTransaction, type SentTransaction } from "../../../types/transaction.ts";
import { withRecoveredSender } from "../../../types/transactionSignature.ts";
import { ERRORS, invalidParams, RpcError } from "../../errors/errors.ts";
import { defineMethod, type Json, optional, required } from "../../method.ts";
import { decodeNumberOrTag, findBlock } from "../../parameters/blockParameter.ts";
import { callOf, decodeCall } from "../../parameters/callParameter.ts";
import { decodeData, decodeList } from "../../parameters/parameters.ts";
import { decodeTraceTypes, TRACE_TYPES } from "../../parameters/traceParameters.ts";
import { traceAnswer } from "../../results/traceAnswer.ts";
import { CALL, GIVEN_DATA, listOf, NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

const TYPES = required("types", decodeTraceTypes, TRACE_TYPES);
/** Calls in one request, each of which may use a block's gas. */
const CALLS_LIMIT = 1000;

export const traceCall = defineMethod({
  name: "trace_call",
  namespace: "TRACE",
  summary: "Executes a call on the state after a block and returns its traces.",
  parameters: [
    required("call", decodeCall, CALL),
    TYPES,
    optional("block", decodeNumberOrTag, NUMBER_OR_TAG),
  ],
  result: { name: "result", schema: OBJECT },
  ports: ["chain", "tracer"],
  async run([call, types, choice = "latest"], context) {
    const { chain, tracer } = context.backend;
    const block = findBlock(chain, choice);
    if (block instanceof RpcError) return block;
    if (block === undefined) return ERRORS.blockNotFound;
    const { number } = block.header;
    return traceAnswer(
      await tracer.run({ kind: "call", blockNumber: number, call: { call, types } }, context),
    );
  },
});

export const traceCallMany = defineMethod({
  name: "trace_callMany",
  namespace: "TRACE",
  summary: "Executes calls one after another on the state after a block and returns their traces.",
  parameters: [
    required("calls", decodeCalls, listOf({ type: "array", items: [CALL, TRACE_TYPES] })),
    // The parameter must be present but may be null.
    optional("block", decodeNumberOrTag, orNull(NUMBER_OR_TAG)),
  ],
  exactParams: 2,
  result: { name: "results", schema: listOf(OBJECT) },
  ports: ["chain", "tracer"],
  async run([calls, choice = "latest"], context) {
    const { chain, tracer } = context.backend;
    const block = findBlock(chain, choice);
    if (block instanceof RpcError) return block;
    if (block === undefined) return ERRORS.blockNotFound;
    if (calls.length === 0) return [];
    return traceAnswer(await tracer.run({ kind: "calls", blockNumber: block.header.number, calls }, context));
  },
});

export const traceRawTransaction = defineMethod({
  name: "trace_rawTransaction",
  namespace: "TRACE",
  summary:
    "Executes a signed transaction on the state of the head, without sending it, and returns its traces.",
  parameters: [required("transaction", decodeData, GIVEN_DATA), TYPES],
  exactParams: 2,
  result: { name: "result", schema: OBJECT },
  ports: ["chain", "tracer"],
  async run([raw, types], context) {
    if (raw.length === 0) return ERRORS.internalError;
    const { chain, tracer } = context.backend;
    const decoded = decodeTransaction(raw);
    const transaction = decoded.ok ? withRecoveredSender(decoded.value) : undefined;
    if (transaction === undefined) return invalidParams("parameter 1 (transaction) is no signed transaction");
    const { number } = chain.head.header;
    const call = { call: callOf(transaction), types };
    const result = await tracer.run({ kind: "call", blockNumber: number, call }, context);
    if (result.kind !== "refused") return traceAnswer(result);
    const nonce = chain.stateAt(number)?.account(transaction.sender)?.nonce ?? 0n;
    return notExecuted(transaction, nonce, types);
  },
});

/** The answer for a transaction that is invalid in a block: Besu returns no error, but a call without gas. */
function notExecuted(transaction: SentTransaction, nonce: bigint, types: ParityTypes): Json {
  const { to, sender, value, data } = transaction;
  const [from, amount] = [toHex(sender), toQuantity(value)];
  const address = to === undefined ? toHex(createdAddress(sender, nonce)) : toHex(to);
  const shown =
    to === undefined
      ? {
          action: { from, init: toHex(data), value: amount },
          result: { address, code: "0x", gasUsed: "0x0" },
        }
      : {
          action: { callType: "call", from, input: toHex(data), to: address, value: amount },
          result: { gasUsed: "0x0", output: "0x" },
        };
  const trace = { ...shown, subtraces: 0, traceAddress: [], type: to === undefined ? "create" : "call" };
  return {
    output: "0x",
    stateDiff: null,
    trace: types.trace ? [trace] : [],
    vmTrace: types.vmTrace ? { code: "0x", ops: [] } : null,
  };
}

function decodeCalls(value: unknown): readonly TracedCall[] | undefined {
  const calls = decodeList(decodeTracedCall)(value);
  return calls === undefined || calls.length > CALLS_LIMIT ? undefined : calls;
}

function decodeTracedCall(value: unknown): TracedCall | undefined {
  if (!Array.isArray(value)) return undefined;
  const call = decodeCall(value[0]);
  const types = decodeTraceTypes(value[1]);
  return call && types && { call, types };
}
