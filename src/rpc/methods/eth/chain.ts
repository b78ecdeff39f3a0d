import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../method.ts";
import { syncingResult } from "../../results/syncingResult.ts";
import { BOOLEAN, OBJECT, QUANTITY } from "../../schemas.ts";

/** Identity and progress of the chain. */

export const ethChainId = defineMethod({
  name: "eth_chainId",
  namespace: "ETH",
  summary: "The chain id that transactions are signed for.",
  parameters: [],
  result: { name: "chainId", schema: QUANTITY },
  ports: ["spec"],
  run: (_, { backend }) => toQuantity(backend.spec.chainId),
});

export const ethBlockNumber = defineMethod({
  name: "eth_blockNumber",
  namespace: "ETH",
  summary: "Number of the head.",
  parameters: [],
  result: { name: "number", schema: QUANTITY },
  ports: ["chain"],
  run: (_, { backend }) => toQuantity(backend.chain.head.header.number),
});

export const ethSyncing = defineMethod({
  name: "eth_syncing",
  namespace: "ETH",
  summary: "The sync status, or false when the node is not syncing.",
  parameters: [],
  result: { name: "status", schema: { oneOf: [BOOLEAN, OBJECT] } },
  ports: ["node"],
  mayOverlap: "many",
  run: async (_, context) => syncingResult(await context.backend.node.syncStatus(context)),
});

export const ethProtocolVersion = defineMethod({
  name: "eth_protocolVersion",
  namespace: "ETH",
  summary: "Highest version of the eth wire protocol that the node speaks.",
  parameters: [],
  result: { name: "version", schema: QUANTITY },
  ports: ["network"],
  mayOverlap: "many",
  async run(_, context) {
    const { ethVersion } = await context.backend.network.info(context);
    return toQuantity(ethVersion);
  },
});
