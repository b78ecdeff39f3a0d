import { toWordHex } from "../../../primitives/hex.ts";
import { RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import { decodeAddress, decodeStoragePosition } from "../../parameters/parameters.ts";
import { ADDRESS, DATA, NUMBER_TAG_OR_HASH, orNull, POSITION } from "../../schemas.ts";

export const ethGetStorageAt = defineMethod({
  name: "eth_getStorageAt",
  namespace: "ETH",
  summary: "Value of a storage slot, 32 bytes; null when the state of that block is not stored.",
  parameters: [
    required("address", decodeAddress, ADDRESS),
    required("position", decodeStoragePosition, POSITION),
    required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
  ],
  result: { name: "value", schema: orNull(DATA) },
  ports: ["chain"],
  run([address, slot, choice], { backend: { chain } }) {
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const state = chain.stateAt(found.header.number);
    return state === undefined ? null : toWordHex(state.storage(address, slot));
  },
});
