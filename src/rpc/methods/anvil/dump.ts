import { DEVELOPMENT_REFUSALS, developmentError } from "../../errors/developmentErrors.ts";
import { invalidParams } from "../../errors/errors.ts";
import { type Answer, defineMethod, optional, required } from "../../method.ts";
import { decodeFlag } from "../../parameters/developmentParameters.ts";
import { decodeData } from "../../parameters/parameters.ts";
import { dataAnswer } from "../../results/dataAnswer.ts";
import { BOOLEAN, DATA, GIVEN_DATA } from "../../schemas.ts";
import { stateQueryError } from "../debug/stateRanges.ts";

/** States that leave a development network, and come to one (development-network.md#dumps). */

export const anvilDumpState = defineMethod({
  name: "anvil_dumpState",
  aliases: ["hardhat_dumpState"],
  namespace: "ANVIL",
  alsoIn: ["HARDHAT"],
  summary: "All accounts of the newest state, as gzip of JSON; earlier states and blocks are not in it.",
  parameters: [optional("withHistory", decodeFlag, BOOLEAN)],
  result: { name: "dump", schema: DATA },
  ports: ["chain", "stateQueries"],
  async run(_, context): Promise<Answer> {
    const { chain, stateQueries } = context.backend;
    const blockNumber = chain.head.header.number;
    const found = await stateQueries.query({ kind: "dump", blockNumber }, context);
    switch (found.kind) {
      case "dump":
        return dataAnswer(found.gzip);
      case "tooLargeToDump":
        return DEVELOPMENT_REFUSALS.dumpTooLarge;
      case "unknownAddress":
        return DEVELOPMENT_REFUSALS.dumpIncomplete;
      default:
        return stateQueryError(found);
    }
  },
});

export const anvilLoadState = defineMethod({
  name: "anvil_loadState",
  aliases: ["hardhat_loadState"],
  namespace: "ANVIL",
  alsoIn: ["HARDHAT"],
  summary: "Adds the accounts of a dump, of this node, another one or anvil, to the newest state.",
  parameters: [required("dump", decodeData, GIVEN_DATA)],
  result: { name: "isLoaded", schema: BOOLEAN },
  ports: ["stateQueries", "development"],
  async run([dump], context): Promise<Answer> {
    const { stateQueries, development } = context.backend;
    const found = await stateQueries.query({ kind: "readDump", dump }, context);
    if (found.kind === "unreadable") return invalidParams(`no dump of a state: ${found.why}`);
    if (found.kind !== "read") return stateQueryError(found);
    const loaded = await development.load(found.accounts, context);
    return loaded.ok ? true : developmentError(loaded.error);
  },
});
