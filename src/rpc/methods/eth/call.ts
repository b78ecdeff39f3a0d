import { RpcError } from "../../errors/errors.ts";
import { callError } from "../../errors/simulationErrors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import { decodeCall } from "../../parameters/callParameter.ts";
import { BLOCK_OVERRIDES, overridesOf, STATE_OVERRIDES } from "../../parameters/overrideParameters.ts";
import { dataAnswer } from "../../results/dataAnswer.ts";
import { CALL, DATA, NUMBER_TAG_OR_HASH } from "../../schemas.ts";

export const ethCall = defineMethod({
  name: "eth_call",
  namespace: "ETH",
  summary: "Runs a call on the state after a block without changing anything.",
  parameters: [
    required("call", decodeCall, CALL),
    required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
    STATE_OVERRIDES,
    BLOCK_OVERRIDES,
  ],
  result: { name: "output", schema: DATA },
  ports: ["chain", "simulator"],
  mayOverlap: "few",
  async run([call, choice, accounts, block], context) {
    const { chain, simulator } = context.backend;
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const blockNumber = found.header.number;
    const overrides = overridesOf(accounts, block);
    const result = await simulator.run({ kind: "call", call, blockNumber, ...overrides }, context);
    return result.kind === "returned" ? dataAnswer(result.data) : callError(result);
  },
});
