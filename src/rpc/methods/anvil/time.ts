import { anvilError } from "../../errors/developmentErrors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrQuantity, decodeSeconds } from "../../parameters/developmentParameters.ts";
import { BOOLEAN, NULL_RESULT, NUMBER_OR_QUANTITY } from "../../schemas.ts";

/** The time of the blocks that follow, in anvil's names alone (development-network.md#time). */

export const anvilSetNextBlockTimestamp = defineMethod({
  name: "anvil_setNextBlockTimestamp",
  namespace: "ANVIL",
  summary: "Sets the time of the next block that is mined.",
  parameters: [required("timestamp", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: NULL_RESULT,
  ports: ["development"],
  async run([timestamp], context) {
    const set = await context.backend.development.setNextTimestamp(timestamp, context);
    return set.ok ? null : anvilError(set.error);
  },
});

export const anvilSetBlockTimestampInterval = defineMethod({
  name: "anvil_setBlockTimestampInterval",
  namespace: "ANVIL",
  summary: "Has the time of each block follow its parent's by so many seconds, whatever the clock says.",
  parameters: [required("seconds", decodeSeconds, NUMBER_OR_QUANTITY)],
  result: NULL_RESULT,
  ports: ["development"],
  async run([seconds], context) {
    await context.backend.development.setTimestampInterval(seconds, context);
    return null;
  },
});

export const anvilRemoveBlockTimestampInterval = defineMethod({
  name: "anvil_removeBlockTimestampInterval",
  namespace: "ANVIL",
  summary: "Has the clock decide the time of blocks again; whether an interval decided it before.",
  parameters: [],
  result: { name: "isRemoved", schema: BOOLEAN },
  ports: ["development"],
  run: (_, context) => context.backend.development.setTimestampInterval(undefined, context),
});
