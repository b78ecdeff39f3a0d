import { KEPT_ARRIVALS } from "../../../chain/blockArrivals.ts";
import { toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { decodeIndex } from "../../parameters/parameters.ts";
import { GIVEN_QUANTITY, listOf, NUMBER_OR_TAG, OBJECT } from "../../schemas.ts";

/** Serves charts of the time between blocks, because the stamps of blocks are whole seconds. */
export const explorerGetArrivals = defineMethod({
  name: "explorer_getArrivals",
  namespace: "EXPLORER",
  summary: "When this node had the blocks up to this one, the newest first, where it knows.",
  parameters: [
    required("newest", decodeNumberOrTag, NUMBER_OR_TAG),
    required("count", decodeIndex, GIVEN_QUANTITY),
  ],
  result: { name: "arrivals", schema: listOf(OBJECT) },
  ports: ["chain", "node"],
  mayOverlap: "many",
  async run([choice, count], context) {
    if (count > KEPT_ARRIVALS) return ERRORS.rangeTooLarge;
    const { chain, node } = context.backend;
    const arrivals = await node.arrivals(numberOf(chain, choice), count, context);
    return arrivals.map(({ number, hash, atMs }) => ({
      number: toQuantity(number),
      hash: toHex(hash),
      atMs: toQuantity(atMs),
    }));
  },
});
