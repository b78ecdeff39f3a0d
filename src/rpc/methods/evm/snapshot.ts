import { toQuantity } from "../../../primitives/quantity.ts";
import { DEVELOPMENT_REFUSALS, developmentError } from "../../errors/developmentErrors.ts";
import { defineMethod, optional, required } from "../../method.ts";
import { decodeNumberOrQuantity } from "../../parameters/developmentParameters.ts";
import { isObject } from "../../parameters/parameters.ts";
import { BOOLEAN, NULL_RESULT, NUMBER_OR_QUANTITY, OBJECT, QUANTITY } from "../../schemas.ts";

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
  parameters: [required("id", decodeNumberOrQuantity, NUMBER_OR_QUANTITY)],
  result: { name: "isReverted", schema: BOOLEAN },
  ports: ["development"],
  async run([id], context) {
    const reverted = await context.backend.development.revert(id, context);
    return reverted.ok ? reverted.value : developmentError(reverted.error);
  },
});

export const hardhatReset = defineMethod({
  name: "hardhat_reset",
  namespace: "HARDHAT",
  summary: "Goes back to the genesis block and to the time of the clock; forgets all snapshots and the pool.",
  parameters: [optional("options", decodeOptions, OBJECT)],
  result: { name: "isReset", schema: BOOLEAN },
  ports: ["development"],
  async run([options], context) {
    if (namesFork(options)) return DEVELOPMENT_REFUSALS.noForking;
    const reset = await context.backend.development.reset(context);
    return reset.ok ? true : developmentError(reset.error);
  },
});

export const anvilReset = defineMethod({
  name: "anvil_reset",
  namespace: "ANVIL",
  summary: "Goes back to the genesis block and to the time of the clock; forgets all snapshots and the pool.",
  parameters: [optional("options", decodeOptions, OBJECT)],
  result: NULL_RESULT,
  ports: ["development"],
  async run([options], context) {
    if (namesFork(options)) return DEVELOPMENT_REFUSALS.noForking;
    const reset = await context.backend.development.reset(context);
    return reset.ok ? null : developmentError(reset.error);
  },
});

function decodeOptions(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined;
}

/** Whether the options name a chain or a block to go on from. viem writes `forking` without either when it is asked for none. */
function namesFork(options: Readonly<Record<string, unknown>> | undefined): boolean {
  const forking = options?.["forking"] ?? undefined;
  if (!isObject(forking)) return forking !== undefined;
  return (forking["jsonRpcUrl"] ?? forking["blockNumber"] ?? undefined) !== undefined;
}
