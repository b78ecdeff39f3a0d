import type { FoundPair } from "../../../accounts/indexReader.ts";
import type { Pair, Subject } from "../../../accounts/layout.ts";
import { concatBytes, toHex } from "../../../primitives/hex.ts";
import { bytesToBigint, quantityOrNull, toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS, invalidParams } from "../../errors/errors.ts";
import { type Answer, type ContextOf, defineMethod, type Json, optional, required } from "../../method.ts";
import { decodeListPage, FIRST_PAGE, type ListPage, TOKEN_ID } from "../../parameters/explorerParameters.ts";
import { decodeAddress } from "../../parameters/parameters.ts";
import { ADDRESS, LIST_PAGE, OBJECT } from "../../schemas.ts";
import { pageAnswer } from "./listPages.ts";
import { askOnHead, balanceOf } from "./tokenCalls.ts";

/** Contracts asked for one page: many may answer that nothing is left. */
const MAX_QUESTIONS = 200;
/** Lengths of a cursor, which is what follows the subject in a key (accounts/layout.ts). */
const CURSOR_BYTES = [21, 53];

const PAGE = optional("page", decodeListPage, LIST_PAGE);

export const explorerGetTokensOf = defineMethod({
  name: "explorer_getTokensOf",
  namespace: "EXPLORER",
  summary: "The tokens that an account holds, as their contracts say.",
  parameters: [required("account", decodeAddress, ADDRESS), PAGE],
  result: { name: "tokens", schema: OBJECT },
  ports: ["chain", "accounts", "simulator"],
  mayOverlap: "few",
  run: ([account, page], context) => holdings("holding", account, page, context),
});

export const explorerGetTokenHolders = defineMethod({
  name: "explorer_getTokenHolders",
  namespace: "EXPLORER",
  summary: "The accounts that hold a token, or one of its ids, as its contract says.",
  parameters: [required("token", decodeAddress, ADDRESS), PAGE, TOKEN_ID],
  result: { name: "holders", schema: OBJECT },
  ports: ["chain", "accounts", "simulator"],
  mayOverlap: "few",
  run: ([token, page, tokenId], context) =>
    tokenId === undefined
      ? holdings("holder", token, page, context)
      : holdings("idHolder", concatBytes(token, tokenId), page, context),
});

async function holdings(
  kind: Pair,
  subject: Subject,
  { size, cursor }: ListPage = FIRST_PAGE,
  context: ContextOf<"chain" | "accounts" | "simulator">,
): Promise<Answer> {
  const { chain, accounts, simulator } = context.backend;
  if (accounts === undefined) return ERRORS.accountIndexOff;
  if (cursor !== undefined && !CURSOR_BYTES.includes(cursor.length))
    return invalidParams("the cursor is not one of this list");
  const candidates = await accounts.read(chain, async (view) => ({
    ...(await view.pairs(kind, subject, { after: cursor, limit: MAX_QUESTIONS })),
    first: view.first,
    last: view.last,
  }));
  const ask = askOnHead({ chain, simulator }, context);
  const items: Json[] = [];
  let asked: Uint8Array | undefined;
  for (const pair of candidates.found) {
    if (items.length === size) return pageAnswer(items, { ...candidates, next: asked });
    const balance = await balanceOf(ask, pair.account, pair.asset);
    if (balance === "busy") return ERRORS.tooManyCalls;
    if (balance !== 0n) items.push(itemOf(kind, pair, balance));
    asked = pair.rest;
  }
  return pageAnswer(items, candidates);
}

function itemOf(kind: Pair, { account, asset }: FoundPair, balance: bigint | undefined): Json {
  const { token, standard, tokenId } = asset;
  return {
    ...(kind === "holding" ? { token: toHex(token), standard } : { holder: toHex(account), standard }),
    tokenId: tokenId === undefined ? null : toQuantity(bytesToBigint(tokenId)),
    balance: quantityOrNull(balance),
  };
}
