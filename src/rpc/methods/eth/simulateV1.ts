import type { SimulatedBlock, SimulatedCall } from "../../../execution/simulation/simulateBlocks.ts";
import type { BlocksErrorCode } from "../../../execution/simulation/simulatedBlocksError.ts";
import { logItemsJson } from "../../../logs/logResult.ts";
import { assertNever } from "../../../primitives/assert.ts";
import { toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { encodeBlock } from "../../../types/block.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { PRECOMPILE_NOT_MOVABLE, revertError } from "../../errors/simulationErrors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import {
  decodeSimulatePayload,
  SIMULATE_PAYLOAD,
  simulatePayloadError,
} from "../../parameters/simulateParameter.ts";
import { type BlockDetail, blockJson } from "../../results/blockResult.ts";
import { joinJson } from "../../results/joinJson.ts";
import { listOf, NUMBER_TAG_OR_HASH, OBJECT } from "../../schemas.ts";

/** Not in Besu: the standard method to simulate several calls in several blocks (execution-apis). */
export const ethSimulateV1 = defineMethod({
  name: "eth_simulateV1",
  namespace: "ETH",
  summary: "Runs calls in a chain of simulated blocks without changing anything.",
  parameters: [
    { ...required("payload", decodeSimulatePayload, SIMULATE_PAYLOAD), explain: simulatePayloadError },
    optional("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
  ],
  result: { name: "blocks", schema: listOf(OBJECT) },
  ports: ["chain", "stateQueries"],
  mayOverlap: "few",
  async run([payload, choice = "latest"], context) {
    const { chain, stateQueries } = context.backend;
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const { showsWholeTransactions, ...request } = payload;
    const blockNumber = found.header.number;
    const answer = await stateQueries.query({ kind: "blocks", blockNumber, request }, context);
    switch (answer.kind) {
      case "blocks": {
        const detail = showsWholeTransactions ? "transactions" : "hashes";
        return joinJson(blocksJson(answer.blocks, found.totalDifficulty, detail));
      }
      case "blocksRefused":
        return new RpcError(ERROR_CODES[answer.code], `Simulation refused: ${answer.detail}`);
      case "timedOut":
        return ERRORS.timeoutExpired;
      case "tooLarge":
        return ERRORS.callTooLarge;
      case "busy":
        return ERRORS.tooManyCalls;
      case "stateUnavailable":
        return ERRORS.worldStateUnavailable;
      default:
        return assertNever(answer);
    }
  },
});

/** Codes of the standard. */
const ERROR_CODES: Readonly<Record<BlocksErrorCode, number>> = {
  nonceTooLow: -38010,
  nonceTooHigh: -38011,
  gasPriceBelowBaseFee: -38012,
  blobFeeBelowBaseFee: -38012,
  intrinsicGasAboveLimit: -38013,
  upfrontCostAboveBalance: -38014,
  upfrontCostOverflow: -38014,
  blockGasLimitReached: -38015,
  numberNotRising: -38020,
  timestampNotRising: -38021,
  initCodeTooLarge: -38025,
  tooManyBlocks: -38026,
  tooManyCalls: -38026,
  tooMuchMemory: -38026,
  systemCallFailed: -32603,
  nonceOverflow: -32603,
  precompileNotMovable: PRECOMPILE_NOT_MOVABLE,
  priorityFeeAboveFeeCap: -32602,
  invalidTransactionType: -32602,
  invalidBlobs: -32602,
};

/** A list of block objects, each with an additional member `calls`. */
function* blocksJson(
  blocks: readonly SimulatedBlock[],
  baseDifficulty: bigint,
  detail: BlockDetail,
): Generator<string, void> {
  let totalDifficulty = baseDifficulty;
  yield "[";
  for (const [at, simulated] of blocks.entries()) {
    const { calls, ...block } = simulated;
    totalDifficulty += block.header.difficulty;
    const text = blockJson({ ...block, totalDifficulty, size: encodeBlock(block).length }, detail);
    yield `${at === 0 ? "" : ","}${text.slice(0, -1)},"calls":[`;
    let logIndex = 0;
    for (const [index, call] of calls.entries()) {
      yield `${index === 0 ? "" : ","}${callJson(simulated, call, { index, logIndex })}`;
      logIndex += call.logs.length;
    }
    yield "]}";
  }
  yield "]";
}

function callJson(
  { header, hash, transactions }: SimulatedBlock,
  { outcome, output, gasUsed, gasBeforeRefund, logs }: SimulatedCall,
  { index, logIndex }: { readonly index: number; readonly logIndex: number },
): string {
  const transactionHash = transactions[index]?.hash ?? hash;
  const located = logs.map((log, at) => ({
    log,
    blockNumber: header.number,
    blockHash: hash,
    transactionHash,
    transactionIndex: index,
    logIndex: logIndex + at,
    removed: false,
  }));
  const succeeded = outcome.kind === "succeeded";
  const error = succeeded ? "" : `,"error":${JSON.stringify(errorOf(outcome, output))}`;
  // The data of a REVERT is in the error.
  const returned = succeeded ? toHex(output) : "0x";
  return `{"returnData":"${returned}","logs":[${logItemsJson(located)}],"gasUsed":"${toQuantity(gasUsed)}","maxUsedGas":"${toQuantity(gasBeforeRefund)}","status":"${succeeded ? "0x1" : "0x0"}"${error}}`;
}

function errorOf(
  outcome: Exclude<SimulatedCall["outcome"], { kind: "succeeded" }>,
  output: Uint8Array,
): object {
  if (outcome.kind === "reverted") {
    const { code, message, data } = revertError(output);
    return { code, message, data };
  }
  return { code: VM_ERROR, message: `${ERRORS.executionHalted.message}: ${outcome.reason}` };
}

const VM_ERROR = -32015;
