import { blobBaseFee } from "../../../execution/blockRules.ts";
import { onceKnown } from "../../../primitives/eventual.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../method.ts";
import { orNull, QUANTITY } from "../../schemas.ts";

/** Gas prices: suggestions for the legacy price and the priority fee, and the base fees of the next block. */

export const ethGasPrice = defineMethod({
  name: "eth_gasPrice",
  namespace: "ETH",
  summary: "Gas price in wei that recent transactions suggest, within the node's bounds.",
  parameters: [],
  result: { name: "gasPrice", schema: QUANTITY },
  ports: ["gasPrices"],
  run: (_, { backend: { gasPrices } }) => onceKnown(gasPrices.gasPriceWei(), toQuantity),
});

export const ethMaxPriorityFeePerGas = defineMethod({
  name: "eth_maxPriorityFeePerGas",
  namespace: "ETH",
  summary: "Priority fee in wei that recent transactions suggest.",
  parameters: [],
  result: { name: "maxPriorityFeePerGas", schema: QUANTITY },
  ports: ["gasPrices"],
  run: (_, { backend: { gasPrices } }) => onceKnown(gasPrices.maxPriorityFeeWei(), toQuantity),
});

/** Not in Besu, but in execution-apis. */
export const ethBaseFee = defineMethod({
  name: "eth_baseFee",
  namespace: "ETH",
  summary: "Base fee of the next block, wei; null before London.",
  parameters: [],
  result: { name: "baseFee", schema: orNull(QUANTITY) },
  ports: ["nextBaseFeePerGas"],
  run(_, { backend }) {
    const baseFeePerGas = backend.nextBaseFeePerGas();
    return baseFeePerGas === undefined ? null : toQuantity(baseFeePerGas);
  },
});

export const ethBlobBaseFee = defineMethod({
  name: "eth_blobBaseFee",
  namespace: "ETH",
  summary: "Price of blob gas in the next block, wei.",
  parameters: [],
  result: { name: "blobBaseFee", schema: QUANTITY },
  ports: ["chain", "spec", "clock"],
  run(_, { backend: { chain, spec, clock } }) {
    const now = BigInt(Math.floor(clock.nowMs() / 1000));
    return toQuantity(blobBaseFee(spec, chain.head.header.number + 1n, now));
  },
});
