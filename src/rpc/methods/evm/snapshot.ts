import { toQuantity } from "../../../primitives/quantity.ts";
import { developmentError } from "../../errors/developmentErrors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrQuantity } from "../../parameters/developmentParameters.ts";
import { BOOLEAN, GIVEN_QUANTITY, QUANTITY } from "../../schemas.ts";

/** Going back to an earlier state of the chain (development-network.md#snapshots). */

export const evmSnapshot = defineMethod({
  name: "evm_snapshot",
  aliases: ["anvil_snapshot"],
  namespace: "EVM",
  alsoIn: ["ANVIL"],
  summary: "Remembers the newest block, the time and the pool, and returns the id to go back to them by.",
  parameters: [],
  result: { name: "id", schema: QUANTITY },
  ports: ["development"],
  async run(_, context) {
    const id = await context.backend.development.snapshot(context);
    return id.ok ? toQuantity(id.value) : developmentError(id.error);
  },
});

export const evmRevert = defineMethod({
  name: "evm_revert",
  aliases: ["anvil_revert"],
  namespace: "EVM",
  alsoIn: ["ANVIL"],
  summary: "Goes back to a snapshot and forgets it, with all later ones; false when there is none.",
  parameters: [required("id", decodeNumberOrQuantity, GIVEN_QUANTITY)],
  result: { name: "isReverted", schema: BOOLEAN },
  ports: ["development"],
  async run([id], context) {
    const reverted = await context.backend.development.revert(id, context);
    return reverted.ok ? reverted.value : developmentError(reverted.error);
  },
});
