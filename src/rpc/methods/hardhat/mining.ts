import { DEVELOPMENT_REFUSALS, developmentError } from "../../errors/developmentErrors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { decodeNumberOrQuantity, decodeSeconds } from "../../parameters/developmentParameters.ts";
import { decodeHash, decodeWholeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, BOOLEAN, HASH, NUMBER_OR_QUANTITY } from "../../schemas.ts";

/** Blocks on demand, and what blocks have, in Hardhat's names alone (development-network.md#mining). */

export const hardhatMine = defineMethod({
  name: "hardhat_mine",
  namespace: "HARDHAT",
  summary:
    "Mines so many blocks, one unless said otherwise, whose times are so many seconds apart, one unless said otherwise.",
  parameters: [
    optional("blocks", decodeNumberOrQuantity, NUMBER_OR_QUANTITY),
    optional("seconds", decodeSeconds, NUMBER_OR_QUANTITY),
  ],
  result: { name: "isMined", schema: BOOLEAN },
  ports: ["development"],
  async run([blocks = 1n, spacingSeconds = 1n], context) {
    const mined = await context.backend.development.mine({ blocks: Number(blocks), spacingSeconds }, context);
    return mined.ok ? true : developmentError(mined.error);
  },
});

export const hardhatGetAutomine = defineMethod({
  name: "hardhat_getAutomine",
  aliases: ["anvil_getAutomine"],
  namespace: "HARDHAT",
  alsoIn: ["ANVIL"],
  summary: "Whether transactions are mined as soon as they arrive.",
  parameters: [],
  result: { name: "isAutomatic", schema: BOOLEAN },
  ports: ["development"],
  run: (_, context) => context.backend.development.isAutomatic(context),
});

export const hardhatDropTransaction = defineMethod({
  name: "hardhat_dropTransaction",
  namespace: "HARDHAT",
  summary: "Removes a transaction from the pool; false when it was not there.",
  parameters: [required("hash", decodeHash, HASH)],
  result: { name: "isDropped", schema: BOOLEAN },
  ports: ["chain", "development"],
  async run([hash], context) {
    if (await context.backend.development.drop(hash, context)) return true;
    return context.backend.chain.transactionByHash(hash) === undefined
      ? false
      : DEVELOPMENT_REFUSALS.alreadyMined;
  },
});

export const hardhatSetNextBlockBaseFeePerGas = defineMethod({
  name: "hardhat_setNextBlockBaseFeePerGas",
  namespace: "HARDHAT",
  summary: "Refuses any base fee but the one that the genesis file fixes.",
  parameters: [required("baseFee", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: { name: "isSet", schema: BOOLEAN },
  ports: ["nextBaseFeePerGas"],
  run: ([baseFeeWei], { backend }) =>
    baseFeeWei === backend.nextBaseFeePerGas() ? true : DEVELOPMENT_REFUSALS.fixedBaseFee,
});

export const hardhatSetCoinbase = defineMethod({
  name: "hardhat_setCoinbase",
  aliases: ["anvil_setCoinbase"],
  namespace: "HARDHAT",
  alsoIn: ["ANVIL"],
  summary: "Refuses: the coinbase of an IBFT block is the validator that made it.",
  parameters: [required("address", decodeWholeAddress, ADDRESS)],
  result: { name: "isSet", schema: BOOLEAN },
  run: () => DEVELOPMENT_REFUSALS.fixedCoinbase,
});

export const hardhatSetPrevRandao = defineMethod({
  name: "hardhat_setPrevRandao",
  namespace: "HARDHAT",
  summary: "Refuses: every IBFT block has the same mix hash, which contracts see as prevrandao.",
  parameters: [required("prevRandao", decodeHash, HASH)],
  result: { name: "isSet", schema: BOOLEAN },
  run: () => DEVELOPMENT_REFUSALS.fixedPrevRandao,
});
