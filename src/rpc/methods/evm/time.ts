import { developmentError } from "../../errors/developmentErrors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrQuantity, decodeTime } from "../../parameters/developmentParameters.ts";
import { INTEGER, NUMBER_OR_QUANTITY, TEXT } from "../../schemas.ts";

/** The time of the blocks that follow (development-network.md#time). The names of EVM answer as Hardhat does, those of ANVIL as anvil. */

export const evmIncreaseTime = defineMethod({
  name: "evm_increaseTime",
  namespace: "EVM",
  summary:
    "Moves the time of the blocks that follow ahead by so many seconds; all seconds that it is ahead, as text.",
  parameters: [required("seconds", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: { name: "aheadSeconds", schema: TEXT },
  ports: ["development"],
  async run([seconds], context) {
    const ahead = await context.backend.development.increaseTime(seconds, context);
    return ahead.ok ? ahead.value.toString() : developmentError(ahead.error);
  },
});

export const anvilIncreaseTime = defineMethod({
  name: "anvil_increaseTime",
  namespace: "ANVIL",
  summary: "Moves the time of the blocks that follow ahead by so many seconds; all seconds that it is ahead.",
  parameters: [required("seconds", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: { name: "aheadSeconds", schema: INTEGER },
  ports: ["development"],
  async run([seconds], context) {
    const ahead = await context.backend.development.increaseTime(seconds, context);
    return ahead.ok ? Number(ahead.value) : developmentError(ahead.error);
  },
});

export const evmSetTime = defineMethod({
  name: "evm_setTime",
  aliases: ["anvil_setTime"],
  namespace: "EVM",
  alsoIn: ["ANVIL"],
  summary:
    "Has the time of the blocks that follow go on from this one; the seconds that it is ahead of the clock.",
  parameters: [required("timestamp", decodeTime, NUMBER_OR_QUANTITY)],
  result: { name: "aheadSeconds", schema: INTEGER },
  ports: ["development"],
  async run([timestamp], context) {
    const ahead = await context.backend.development.setTime(timestamp, context);
    if (!ahead.ok) return developmentError(ahead.error);
    return ahead.value > 0n ? Number(ahead.value) : 0;
  },
});

export const evmSetNextBlockTimestamp = defineMethod({
  name: "evm_setNextBlockTimestamp",
  namespace: "EVM",
  summary: "Sets the time of the next block that is mined.",
  parameters: [required("timestamp", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: { name: "timestamp", schema: TEXT },
  ports: ["development"],
  async run([timestamp], context) {
    const set = await context.backend.development.setNextTimestamp(timestamp, context);
    return set.ok ? timestamp.toString() : developmentError(set.error);
  },
});
