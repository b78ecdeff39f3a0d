import { RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { dataAnswer } from "../../results/dataAnswer.ts";
import { ADDRESS, DATA, NUMBER_TAG_OR_HASH, orNull } from "../../schemas.ts";

export const ethGetCode = defineMethod({
  name: "eth_getCode",
  namespace: "ETH",
  summary: "Code of a contract; null when the state of that block is not stored.",
  parameters: [
    required("address", decodeAddress, ADDRESS),
    required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
  ],
  result: { name: "code", schema: orNull(DATA) },
  ports: ["chain"],
  run([address, choice], { backend: { chain } }) {
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const state = chain.stateAt(found.header.number);
    if (state === undefined) return null;
    const account = state.account(address);
    return account === undefined ? "0x" : dataAnswer(state.code(account.codeHash));
  },
});
