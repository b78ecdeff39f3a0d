import { forkAt } from "../../../chainspec/forks.ts";
import { toHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { defineMethod } from "../../method.ts";
import { OBJECT, TEXT } from "../../schemas.ts";

/** What tools for development ask about the node. */

/**
 * Tools for Hardhat make their helpers depend on the name of the node, and know only some (differences-from-besu.md#the-development-network).
 * The first word says what Ibex is to them, the rest is what it is.
 */
export const devClientVersion = defineMethod({
  name: "web3_clientVersion",
  namespace: "ANVIL",
  alsoIn: ["HARDHAT"],
  takesPlace: true,
  summary: "Name and version of the node, which begin with what it is compatible with.",
  parameters: [],
  result: { name: "version", schema: TEXT },
  ports: ["settings"],
  run: (_, { backend }) => compatibleVersion(backend.settings.clientVersion),
});

export const hardhatMetadata = defineMethod({
  name: "hardhat_metadata",
  aliases: ["anvil_metadata"],
  namespace: "HARDHAT",
  alsoIn: ["ANVIL"],
  summary: "The node, its chain, and an id that changes when the chain is reset.",
  parameters: [],
  result: { name: "metadata", schema: OBJECT },
  ports: ["settings", "spec", "chain", "development"],
  async run(_, context) {
    const { settings, spec, chain, development } = context.backend;
    const instanceId = await development.instanceId(context);
    const { header, hash } = chain.head;
    return {
      clientVersion: compatibleVersion(settings.clientVersion),
      chainId: Number(spec.chainId),
      instanceId: toHex(instanceId),
      latestBlockNumber: Number(header.number),
      latestBlockHash: toHex(hash),
    };
  },
});

export const anvilNodeInfo = defineMethod({
  name: "anvil_nodeInfo",
  namespace: "ANVIL",
  summary: "The newest block, the fork, and what transactions pay.",
  parameters: [],
  result: { name: "info", schema: OBJECT },
  ports: ["spec", "chain", "gasPrices"],
  async run(_, { backend: { spec, chain, gasPrices } }) {
    const gasPrice = await gasPrices.gasPriceWei();
    const { header, hash } = chain.head;
    return {
      currentBlockNumber: toQuantity(header.number),
      currentBlockTimestamp: Number(header.timestamp),
      currentBlockHash: toHex(hash),
      hardFork: forkAt(spec.forks, header.number, header.timestamp),
      transactionOrder: "fees",
      environment: {
        baseFee: toQuantity(header.baseFeePerGas ?? 0n),
        chainId: Number(spec.chainId),
        gasLimit: toQuantity(header.gasLimit),
        gasPrice: toQuantity(gasPrice),
      },
      forkConfig: { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null },
    };
  },
});

function compatibleVersion(clientVersion: string): string {
  return `anvil-compatible/${clientVersion}`;
}
