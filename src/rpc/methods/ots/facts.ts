import { hasNoCode } from "../../../execution/emptyAccounts.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, RawJson, required } from "../../method.ts";
import { decodeJsonNumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { blockWithoutTransactionsJson } from "../../results/blockResult.ts";
import { ADDRESS, BOOLEAN, INTEGER, JSON_NUMBER_OR_TAG, OBJECT, orNull } from "../../schemas.ts";

/** The level whose methods and semantics these are; Otterscan asks for 8 at least. */
const API_LEVEL = 8;

export const otsGetApiLevel = defineMethod({
  name: "ots_getApiLevel",
  namespace: "OTS",
  summary: "The level of Otterscan's methods that this node has.",
  parameters: [],
  result: { name: "level", schema: INTEGER },
  run: () => API_LEVEL,
});

export const otsHasCode = defineMethod({
  name: "ots_hasCode",
  namespace: "OTS",
  summary: "Whether an account has code after a block.",
  parameters: [
    required("address", decodeAddress, ADDRESS),
    required("block", decodeJsonNumberOrTag, JSON_NUMBER_OR_TAG),
  ],
  result: { name: "hasCode", schema: BOOLEAN },
  ports: ["chain"],
  run([address, choice], { backend: { chain } }) {
    const state = chain.stateAt(numberOf(chain, choice));
    if (state === undefined) return ERRORS.worldStateUnavailable;
    const account = state.account(address);
    return account !== undefined && !hasNoCode(account);
  },
});

/** Otterscan asks for the newest block by it, once a second. */
export const erigonGetHeaderByNumber = defineMethod({
  name: "erigon_getHeaderByNumber",
  namespace: "OTS",
  summary: "A block's header by number or tag.",
  parameters: [required("block", decodeJsonNumberOrTag, JSON_NUMBER_OR_TAG)],
  result: { name: "header", schema: orNull(OBJECT) },
  ports: ["chain"],
  run([choice], { backend: { chain } }) {
    const block = chain.blockByNumber(numberOf(chain, choice));
    return block === undefined ? null : new RawJson(blockWithoutTransactionsJson(block));
  },
});
