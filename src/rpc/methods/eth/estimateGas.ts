import { toQuantity } from "../../../primitives/quantity.ts";
import { estimateError } from "../../errors/simulationErrors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeCall } from "../../parameters/callParameter.ts";
import {
  BLOCK_OVERRIDES,
  IGNORED_BLOCK,
  overridesOf,
  STATE_OVERRIDES,
} from "../../parameters/overrideParameters.ts";
import { CALL, QUANTITY } from "../../schemas.ts";

/** Runs on the head and ignores the call's gas limit: Besu ignores the block and the limit. */
export const ethEstimateGas = defineMethod({
  name: "eth_estimateGas",
  namespace: "ETH",
  summary: "Gas limit with which a transaction would succeed now.",
  parameters: [required("call", decodeCall, CALL), IGNORED_BLOCK, STATE_OVERRIDES, BLOCK_OVERRIDES],
  result: { name: "gas", schema: QUANTITY },
  ports: ["chain", "simulator"],
  mayOverlap: "few",
  async run([call, , accounts, block], context) {
    const { chain, simulator } = context.backend;
    const blockNumber = chain.head.header.number;
    const overrides = overridesOf(accounts, block);
    const result = await simulator.run({ kind: "estimateGas", call, blockNumber, ...overrides }, context);
    return result.kind === "returned" ? toQuantity(result.gas) : estimateError(result);
  },
});
