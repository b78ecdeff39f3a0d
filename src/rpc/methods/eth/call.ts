import { toHex } from "../../../primitives/hex.ts";
import { decodeNumberTagOrHash, findHeader } from "../../blockParameter.ts";
import { decodeCall } from "../../callParameter.ts";
import { RpcError } from "../../errors.ts";
import { defineMethod, required } from "../../method.ts";
import { BLOCK_OVERRIDES, overridesOf, STATE_OVERRIDES } from "../../overrideParameters.ts";
import { CALL, DATA, NUMBER_TAG_OR_HASH } from "../../schemas.ts";
import { callError } from "../../simulationErrors.ts";

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
  mayOverlap: true,
  async run([call, choice, accounts, block], context) {
    const { chain, simulator } = context.backend;
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const blockNumber = found.header.number;
    const overrides = overridesOf(accounts, block);
    const result = await simulator.run({ kind: "call", call, blockNumber, ...overrides }, context);
    return result.kind === "returned" ? toHex(result.data) : callError(result);
  },
});
