import { larger, toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS, RpcError } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberTagOrHash, findHeader } from "../../parameters/blockParameter.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, NUMBER_TAG_OR_HASH, QUANTITY } from "../../schemas.ts";

export const ethGetTransactionCount = defineMethod({
  name: "eth_getTransactionCount",
  namespace: "ETH",
  summary: "Nonce of an account; with `pending`, the next one that neither chain nor pool has used.",
  parameters: [
    required("address", decodeAddress, ADDRESS),
    required("block", decodeNumberTagOrHash, NUMBER_TAG_OR_HASH),
  ],
  result: { name: "nonce", schema: QUANTITY },
  ports: ["chain", "pool"],
  run([address, choice], context) {
    const { chain, pool } = context.backend;
    const found = findHeader(chain, choice);
    if (found instanceof RpcError) return found;
    const { number } = found.header;
    // Besu answers 0 where it has no state.
    if (number < chain.historyStart.states) return ERRORS.worldStateUnavailable;
    const nonce = chain.stateAt(number)?.account(address)?.nonce ?? 0n;
    if (choice !== "pending") return toQuantity(nonce);
    return pool.nextNonce(address, context).then((next) => toQuantity(larger(next, nonce)));
  },
});
