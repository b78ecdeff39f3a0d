import { estimateError } from "../../errors/simulationErrors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeCall } from "../../parameters/callParameter.ts";
import {
  BLOCK_OVERRIDES,
  IGNORED_BLOCK,
  overridesOf,
  STATE_OVERRIDES,
} from "../../parameters/overrideParameters.ts";
import { accessListAnswer } from "../../results/accessListAnswer.ts";
import { CALL, OBJECT } from "../../schemas.ts";

/** Runs on the head and ignores the call's gas limit: Besu ignores the block and the limit. */
export const ethCreateAccessList = defineMethod({
  name: "eth_createAccessList",
  namespace: "ETH",
  summary: "The storage that a transaction would access, and the gas it would need with that access list.",
  parameters: [required("call", decodeCall, CALL), IGNORED_BLOCK, STATE_OVERRIDES, BLOCK_OVERRIDES],
  result: { name: "accessList", schema: OBJECT },
  ports: ["chain", "simulator"],
  mayOverlap: "few",
  async run([call, , accounts, block], context) {
    const { chain, simulator } = context.backend;
    const blockNumber = chain.head.header.number;
    const overrides = overridesOf(accounts, block);
    const result = await simulator.run(
      { kind: "createAccessList", call, blockNumber, ...overrides },
      context,
    );
    return result.kind === "returned" ? accessListAnswer(result) : estimateError(result);
  },
});
