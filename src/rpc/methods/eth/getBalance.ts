import { toQuantity } from "../../../primitives/quantity.ts";
import { RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, NUMBER_TAG_OR_HASH, orNull, QUANTITY } from "../../schemas.ts";

export const ethGetBalance = defineMethod({
  name: "eth_getBalance",
  namespace: "ETH",
  summary: "Balance of an account in wei; null when the state of that block is not stored.",
  parameters: [
    required("address", decodeAddress, ADDRESS),
    required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
  ],
  result: { name: "balance", schema: orNull(QUANTITY) },
  ports: ["chain"],
  run([address, choice], { backend: { chain } }) {
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const state = chain.stateAt(found.header.number);
    return state === undefined ? null : toQuantity(state.account(address)?.balance ?? 0n);
  },
});
