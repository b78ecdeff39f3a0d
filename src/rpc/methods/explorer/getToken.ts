import { newestPlace } from "../../../accounts/indexReader.ts";
import { textOf, wordOf } from "../../../accounts/tokenAnswers.ts";
import { hexToBytes } from "../../../primitives/hex.ts";
import { quantityOrNull } from "../../../primitives/quantity.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, OBJECT, orNull } from "../../schemas.ts";
import { askOnHead } from "./tokenCalls.ts";
import { transferAt } from "./tokenTransfers.ts";

export const explorerGetToken = defineMethod({
  name: "explorer_getToken",
  namespace: "EXPLORER",
  summary: "What a contract that has emitted transfers of tokens says of itself.",
  parameters: [required("token", decodeAddress, ADDRESS)],
  result: { name: "token", schema: orNull(OBJECT) },
  ports: ["chain", "accounts", "simulator"],
  mayOverlap: "few",
  async run([token], context) {
    const { chain, accounts, simulator } = context.backend;
    if (accounts === undefined) return ERRORS.accountIndexOff;
    const newest = await accounts.read(chain, (view) => newestPlace(view, "tokenTransfer", token));
    if (newest === undefined) return null;
    const block = chain.blockByNumber(BigInt(newest.block));
    const transfer = block && transferAt(block, newest);
    if (transfer === undefined) return null;
    const ask = askOnHead({ chain, simulator }, context);
    const [name, symbol, decimals, totalSupply] = await Promise.all(
      QUESTIONS.map((question) => ask(token, question)),
    );
    if (name === undefined || symbol === undefined || decimals === undefined || totalSupply === undefined)
      return ERRORS.internalError;
    if ([name, symbol, decimals, totalSupply].some(({ kind }) => kind === "busy")) return ERRORS.tooManyCalls;
    return {
      standard: transfer.standard,
      name: textOf(name) ?? null,
      symbol: textOf(symbol) ?? null,
      decimals: quantityOrNull(wordOf(decimals)),
      totalSupply: quantityOrNull(wordOf(totalSupply)),
    };
  },
});

/** name(), symbol(), decimals(), totalSupply(). */
const QUESTIONS = ["0x06fdde03", "0x95d89b41", "0x313ce567", "0x18160ddd"].map(hexToBytes);
