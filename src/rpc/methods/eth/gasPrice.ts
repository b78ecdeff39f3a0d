import { blobBaseFee } from "../../../execution/blockRules.ts";
import { onceKnown } from "../../../primitives/eventual.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../method.ts";
import { QUANTITY } from "../../schemas.ts";

/** Suggested gas prices: legacy price, priority fee and blob base fee. */

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
