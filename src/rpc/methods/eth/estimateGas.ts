import { toQuantity } from "../../../primitives/quantity.ts";
import { decodeCall, forEstimate } from "../../callParameter.ts";
import { defineMethod, required } from "../../method.ts";
import { CALL, QUANTITY } from "../../schemas.ts";
import { estimateError } from "../../simulationErrors.ts";

/** Always on the head: the incumbent ignores a block parameter. */
export const ethEstimateGas = defineMethod({
  name: "eth_estimateGas",
  namespace: "ETH",
  summary: "Gas limit with which a transaction would succeed now.",
  parameters: [required("call", decodeCall, CALL)],
  result: { name: "gas", schema: QUANTITY },
  mayOverlap: true,
  async run([call], { backend: { chain, simulator } }) {
    const blockNumber = chain.head.header.number;
    const result = await simulator.run({ kind: "estimateGas", call: forEstimate(call), blockNumber });
    return result.kind === "returned" ? toQuantity(result.gas) : estimateError(result);
  },
});
