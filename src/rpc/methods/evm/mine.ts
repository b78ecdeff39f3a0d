import { developmentError } from "../../errors/developmentErrors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import {
  decodeFlag,
  decodeMineParameter,
  decodeMiningInterval,
  decodeNumberOrQuantity,
} from "../../parameters/developmentParameters.ts";
import { BOOLEAN, INTEGER, listOf, NUMBER_OR_QUANTITY, OBJECT, TEXT } from "../../schemas.ts";

/** Blocks on demand, as Hardhat's names have them (development-network.md#mining). */

export const evmMine = defineMethod({
  name: "evm_mine",
  namespace: "EVM",
  summary:
    "Mines a block of what waits, at a given time if there is one; or several, as anvil's object says.",
  parameters: [optional("timestamp", decodeMineParameter, { oneOf: [...NUMBER_OR_QUANTITY.oneOf, OBJECT] })],
  result: { name: "zero", schema: TEXT },
  ports: ["development"],
  async run([{ blocks = 1n, timestamp } = {}], context) {
    const mined = await context.backend.development.mine({ blocks: Number(blocks), timestamp }, context);
    return mined.ok ? "0" : developmentError(mined.error);
  },
});

export const evmSetAutomine = defineMethod({
  name: "evm_setAutomine",
  namespace: "EVM",
  summary: "Has transactions mined as soon as they arrive, or no longer.",
  parameters: [required("isAutomatic", decodeFlag, BOOLEAN)],
  result: { name: "isSet", schema: BOOLEAN },
  ports: ["development"],
  async run([isAutomatic], context) {
    await context.backend.development.setAutomatic(isAutomatic, context);
    return true;
  },
});

export const evmSetIntervalMining = defineMethod({
  name: "evm_setIntervalMining",
  namespace: "EVM",
  summary:
    "Mines a block after each so many milliseconds, or a time between two bounds; 0 for no blocks by time.",
  parameters: [required("intervalMs", decodeMiningInterval, { oneOf: [INTEGER, listOf(INTEGER)] })],
  result: { name: "isSet", schema: BOOLEAN },
  ports: ["development"],
  async run([{ least, most }], context) {
    const intervalMs = most === 0 ? undefined : { least: Math.max(least, 1), most };
    await context.backend.development.setInterval(intervalMs, undefined, context);
    return true;
  },
});

export const evmSetBlockGasLimit = defineMethod({
  name: "evm_setBlockGasLimit",
  aliases: ["anvil_setBlockGasLimit"],
  namespace: "EVM",
  alsoIn: ["ANVIL"],
  summary: "Gives the chain this gas limit, in a block of its own.",
  parameters: [required("gasLimit", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: { name: "isSet", schema: BOOLEAN },
  ports: ["development"],
  async run([gasLimit], context) {
    const set = await context.backend.development.setGasLimit(gasLimit, context);
    return set.ok ? true : developmentError(set.error);
  },
});
