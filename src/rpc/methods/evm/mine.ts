import { developmentError } from "../../errors/developmentErrors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { decodeMineParameter, decodeNumberOrQuantity } from "../../parameters/developmentParameters.ts";
import { decodeBoolean } from "../../parameters/parameters.ts";
import { BOOLEAN, GIVEN_QUANTITY, OBJECT, TEXT } from "../../schemas.ts";

/** Blocks on demand (development-network.md#mining). */

const NUMBER_OR_QUANTITY = { oneOf: [{ type: "integer", minimum: 0 }, GIVEN_QUANTITY] };

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
  parameters: [required("isAutomatic", decodeBoolean, BOOLEAN)],
  result: { name: "isSet", schema: BOOLEAN },
  ports: ["development"],
  async run([isAutomatic], context) {
    await context.backend.development.setAutomatic(isAutomatic, context);
    return true;
  },
});

export const evmIncreaseTime = defineMethod({
  name: "evm_increaseTime",
  namespace: "EVM",
  summary: "Moves the time of the blocks that follow ahead by so many seconds.",
  parameters: [required("seconds", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: { name: "aheadSeconds", schema: TEXT },
  ports: ["development"],
  async run([seconds], context) {
    const ahead = await context.backend.development.increaseTime(seconds, context);
    return ahead.ok ? ahead.value.toString() : developmentError(ahead.error);
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
