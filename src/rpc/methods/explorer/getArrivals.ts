import { KEPT_ARRIVALS } from "../../../chain/blockArrivals.ts";
import { toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, type Json, required } from "../../method.ts";
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
  ports: ["chain", "arrivals"],
  run([choice, count], { backend: { chain, arrivals } }) {
    if (count > KEPT_ARRIVALS) return ERRORS.rangeTooLarge;
    const newest = numberOf(chain, choice);
    const rows: Json[] = [];
    for (let number = newest; number >= 0n && newest - number < BigInt(count); number--) {
      const arrival = arrivals.at(number);
      if (arrival !== undefined)
        rows.push({ number: toQuantity(number), hash: toHex(arrival.hash), atMs: toQuantity(arrival.atMs) });
    }
    return rows;
  },
});
