import { toHex } from "../../../primitives/hex.ts";
import { decodeNumberTagOrHash, findHeader } from "../../blockParameter.ts";
import { decodeCall } from "../../callParameter.ts";
import { RpcError } from "../../errors.ts";
import { defineMethod, required } from "../../method.ts";
import { CALL, DATA, NUMBER_TAG_OR_HASH } from "../../schemas.ts";
import { callError } from "../../simulationErrors.ts";

export const ethCall = defineMethod({
  name: "eth_call",
  namespace: "ETH",
  summary: "Runs a call on the state after a block without changing anything.",
  parameters: [
    required("call", decodeCall, CALL),
    required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
  ],
  result: { name: "output", schema: DATA },
  mayOverlap: true,
  async run([call, choice], { backend: { chain, simulator } }) {
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const result = await simulator.run({ kind: "call", call, blockNumber: found.header.number });
    return result.kind === "returned" ? toHex(result.data) : callError(result);
  },
});
