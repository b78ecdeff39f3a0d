import { toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../method.ts";
import { OBJECT } from "../../schemas.ts";

/** Not in Besu, but in execution-apis: routers of requests ask by it which node has an old block. */
export const ethCapabilities = defineMethod({
  name: "eth_capabilities",
  namespace: "ETH",
  summary: "The first block of which this node has the state, the transactions, the receipts and so on.",
  parameters: [],
  result: { name: "capabilities", schema: OBJECT },
  ports: ["chain"],
  run(_, { backend: { chain } }) {
    const { header, hash } = chain.head;
    const { blocks, states } = chain.historyStart;
    const ofBlocks = { disabled: false, oldestBlock: toQuantity(blocks) };
    const ofStates = { disabled: false, oldestBlock: toQuantity(states) };
    return {
      head: { number: toQuantity(header.number), hash: toHex(hash) },
      state: ofStates,
      tx: ofBlocks,
      logs: ofBlocks,
      receipts: ofBlocks,
      blocks: ofBlocks,
      stateproofs: ofStates,
    };
  },
});
