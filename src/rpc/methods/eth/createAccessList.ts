import { SLOT_LENGTH, type TouchedSlots } from "../../../execution/simulation/callRequest.ts";
import { toHex } from "../../../primitives/hex.ts";
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
import { joinJson } from "../../results/joinJson.ts";
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
    if (result.kind !== "returned") return estimateError(result);
    return joinJson(listJson(result.gas, result.accessList ?? []));
  },
});

function* listJson(gas: bigint, list: readonly TouchedSlots[]): Generator<string> {
  yield `{"gasUsed":"${toQuantity(gas)}","accessList":[`;
  for (const [index, { address, slots }] of list.entries()) {
    yield `${index === 0 ? "" : ","}{"address":"${toHex(address)}","storageKeys":[`;
    for (let at = 0; at < slots.length; at += SLOT_LENGTH)
      yield `${at === 0 ? "" : ","}"${toHex(slots.subarray(at, at + SLOT_LENGTH))}"`;
    yield "]}";
  }
  yield "]}";
}
