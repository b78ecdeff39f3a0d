import { SLOT_LENGTH, type TouchedSlots, unpackTouched } from "../../execution/simulation/callRequest.ts";
import { toHex } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import { joinJson } from "./joinJson.ts";

interface AccessListResult {
  readonly gas: bigint;
  /** The accounts with touched slots, packed (packTouched). */
  readonly accessList?: Uint8Array<ArrayBuffer>;
}

/** The answer of eth_createAccessList. */
export function accessListAnswer({ gas, accessList }: AccessListResult) {
  return joinJson(listJson(gas, unpackTouched(accessList)));
}

function* listJson(gas: bigint, list: Iterable<TouchedSlots>): Generator<string> {
  yield `{"gasUsed":"${toQuantity(gas)}","accessList":[`;
  let before = "";
  for (const { address, slots } of list) {
    yield `${before}{"address":"${toHex(address)}","storageKeys":[`;
    for (let at = 0; at < slots.length; at += SLOT_LENGTH)
      yield `${at === 0 ? "" : ","}"${toHex(slots.subarray(at, at + SLOT_LENGTH))}"`;
    yield "]}";
    before = ",";
  }
  yield "]}";
}
