import { SLOT_LENGTH, type TouchedSlots } from "../../execution/simulation/callRequest.ts";
import { toHex } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import { joinJson } from "./joinJson.ts";

interface AccessListResult {
  readonly gas: bigint;
  readonly accessList?: readonly TouchedSlots[];
}

/** The answer of eth_createAccessList. */
export function accessListAnswer({ gas, accessList = [] }: AccessListResult) {
  return joinJson(listJson(gas, accessList));
}

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
