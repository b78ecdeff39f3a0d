import { DEVELOPMENT_REFUSALS } from "../../errors/developmentErrors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeFlag, decodeNumberOrQuantity } from "../../parameters/developmentParameters.ts";
import { decodeData, decodeHash, decodeString, decodeWholeAddress } from "../../parameters/parameters.ts";
import {
  ADDRESS,
  BOOLEAN,
  DATA,
  HASH,
  INTEGER,
  NULL_RESULT,
  NUMBER_OR_QUANTITY,
  TEXT,
} from "../../schemas.ts";

/** What tools set up or ask about anvil itself, and what this node has instead (development-network.md#the-comforts). */

/** The node prints no requests, so there is nothing to turn on or off. */
export const hardhatSetLoggingEnabled = defineMethod({
  name: "hardhat_setLoggingEnabled",
  namespace: "HARDHAT",
  summary: "Does nothing: the node prints no requests.",
  parameters: [required("isEnabled", decodeFlag, BOOLEAN)],
  result: { name: "isSet", schema: BOOLEAN },
  run: () => true,
});

export const anvilSetLoggingEnabled = defineMethod({
  name: "anvil_setLoggingEnabled",
  namespace: "ANVIL",
  summary: "Does nothing: the node prints no requests.",
  parameters: [required("isEnabled", decodeFlag, BOOLEAN)],
  result: NULL_RESULT,
  run: () => null,
});

export const anvilGetGenesisTime = defineMethod({
  name: "anvil_getGenesisTime",
  namespace: "ANVIL",
  summary: "The time of the genesis block.",
  parameters: [],
  result: { name: "timestamp", schema: INTEGER },
  ports: ["chain"],
  run: (_, { backend: { chain } }) => Number(chain.headerByNumber(0n)?.header.timestamp ?? 0n),
});

export const anvilGetBlob = defineMethod({
  name: "anvil_getBlobByHash",
  aliases: ["anvil_getBlobsByTransactionHash"],
  namespace: "ANVIL",
  summary: "Null: no block of this chain has blobs.",
  parameters: [required("hash", decodeHash, HASH)],
  result: NULL_RESULT,
  run: () => null,
});

export const anvilSetRpcUrl = defineMethod({
  name: "anvil_setRpcUrl",
  namespace: "ANVIL",
  summary: "Refuses: the chain is no fork of another one.",
  parameters: [required("url", decodeString, TEXT)],
  result: NULL_RESULT,
  run: () => DEVELOPMENT_REFUSALS.noOtherChain,
});

export const anvilSetChainId = defineMethod({
  name: "anvil_setChainId",
  namespace: "ANVIL",
  summary: "Refuses: the genesis file fixes the chain id.",
  parameters: [required("chainId", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: NULL_RESULT,
  run: () => DEVELOPMENT_REFUSALS.fixedChainId,
});

export const hardhatSetMinGasPrice = defineMethod({
  name: "hardhat_setMinGasPrice",
  aliases: ["anvil_setMinGasPrice"],
  namespace: "HARDHAT",
  alsoIn: ["ANVIL"],
  summary: "Refuses, as Hardhat and anvil do on a chain with a base fee.",
  parameters: [required("gasPrice", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: NULL_RESULT,
  run: () => DEVELOPMENT_REFUSALS.fixedMinGasPrice,
});

export const anvilImpersonateSignature = defineMethod({
  name: "anvil_impersonateSignature",
  namespace: "ANVIL",
  summary: "Refuses: ecrecover is that of any other chain.",
  parameters: [required("signature", decodeData, DATA), required("address", decodeWholeAddress, ADDRESS)],
  result: NULL_RESULT,
  run: () => DEVELOPMENT_REFUSALS.noImpersonatedSignature,
});
