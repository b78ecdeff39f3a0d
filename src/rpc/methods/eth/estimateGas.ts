import { toQuantity } from "../../../primitives/quantity.ts";
import { decodeCall } from "../../callParameter.ts";
import { defineMethod, required } from "../../method.ts";
import { CALL, QUANTITY } from "../../schemas.ts";
import { estimateError } from "../../simulationErrors.ts";

/** Always on the head, and whatever gas limit the call names: the incumbent ignores both. */
export const ethEstimateGas = defineMethod({
  name: "eth_estimateGas",
  namespace: "ETH",
  summary: "Gas limit with which a transaction would succeed now.",
  parameters: [required("call", decodeCall, CALL)],
  result: { name: "gas", schema: QUANTITY },
  mayOverlap: true,
  async run([call], { backend: { chain, simulator } }) {
    const blockNumber = chain.head.header.number;
    const result = await simulator.run({ kind: "estimateGas", call, blockNumber });
    return result.kind === "returned" ? toQuantity(result.gas) : estimateError(result);
  },
});
