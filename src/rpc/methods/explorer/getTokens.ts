import type { CountedToken, IndexView } from "../../../accounts/indexReader.ts";
import { asAddress } from "../../../primitives/address.ts";
import { compareBytes, toHex } from "../../../primitives/hex.ts";
import { bytesToBigint, quantityOrNull, toQuantity } from "../../../primitives/quantity.ts";
import { ERRORS, invalidParams } from "../../errors/errors.ts";
import { defineMethod, type Json, optional } from "../../method.ts";
import { decodeListPage, FIRST_PAGE } from "../../parameters/explorerParameters.ts";
import { LIST_PAGE, OBJECT, TEXT } from "../../schemas.ts";

/** Most tokens that are looked at for one page, by their addresses. */
const MOST_TOKENS = 10_000;
/** Most entries of accounts that are counted for a token. */
const MOST_ACCOUNTS = 200;
/** Most characters of the sought text. */
const LONGEST_TEXT = 64;
/** Length of a cursor: the transfers and the address of a token. */
const CURSOR_BYTES = 6 + 20;

export const explorerGetTokens = defineMethod({
  name: "explorer_getTokens",
  namespace: "EXPLORER",
  summary: "The contracts that have emitted transfers of tokens, the most moved ones first.",
  parameters: [optional("page", decodeListPage, LIST_PAGE), optional("text", decodeSoughtText, TEXT)],
  result: { name: "tokens", schema: OBJECT },
  ports: ["chain", "accounts"],
  mayOverlap: "few",
  async run([{ size, cursor } = FIRST_PAGE, text = ""], { backend: { chain, accounts } }) {
    if (accounts === undefined) return ERRORS.accountIndexOff;
    if (cursor !== undefined && cursor.length !== CURSOR_BYTES)
      return invalidParams("the cursor is not one of this list");
    return accounts.read(chain, async (view) => {
      const { found, looked } = await firstTokens(view, text.toLowerCase(), placeIn(cursor), size + 1);
      const shown = found.slice(0, size);
      const last = shown.at(-1);
      const items: Json[] = [];
      for (const token of shown) items.push(await itemOf(view, token));
      return {
        items,
        next: found.length > size && last !== undefined ? cursorAt(last) : null,
        isCut: looked === MOST_TOKENS,
        firstBlock: quantityOrNull(view.counted?.first),
        lastBlock: quantityOrNull(view.counted && view.counted.next - 1),
      };
    });
  },
});

type Rank = Pick<CountedToken, "transfers" | "token">;

/** The first tokens after a place whose name or symbol has the text, by their transfers. */
async function firstTokens(
  view: IndexView,
  text: string,
  after: Rank | undefined,
  limit: number,
): Promise<{ readonly found: readonly CountedToken[]; readonly looked: number }> {
  const found: CountedToken[] = [];
  let looked = 0;
  for await (const token of view.tokens(MOST_TOKENS)) {
    looked++;
    if (after !== undefined && !isBefore(after, token)) continue;
    const last = found.at(-1);
    if (found.length === limit && last !== undefined && isBefore(last, token)) continue;
    if (![token.name, token.symbol].some((name) => name.toLowerCase().includes(text))) continue;
    found.splice(found.findLastIndex((other) => isBefore(other, token)) + 1, 0, token);
    if (found.length > limit) found.pop();
  }
  return { found, looked };
}

function isBefore(one: Rank, other: Rank): boolean {
  if (one.transfers !== other.transfers) return one.transfers > other.transfers;
  return compareBytes(one.token, other.token) < 0;
}

function placeIn(cursor: Uint8Array | undefined): Rank | undefined {
  if (cursor === undefined) return undefined;
  return { transfers: Number(bytesToBigint(cursor.slice(0, 6))), token: asAddress(cursor.slice(6)) };
}

function cursorAt({ transfers, token }: Rank): string {
  return `0x${transfers.toString(16).padStart(12, "0")}${toHex(token).slice(2)}`;
}

async function itemOf(view: IndexView, one: CountedToken): Promise<Json> {
  const { found, next } = await view.pairs("holder", one.token, { after: undefined, limit: MOST_ACCOUNTS });
  const accounts = new Set(found.map(({ account }) => toHex(account)));
  return {
    token: toHex(one.token),
    standard: one.standard,
    name: one.name === "" ? null : one.name,
    symbol: one.symbol === "" ? null : one.symbol,
    transfers: toQuantity(one.transfers),
    accounts: toQuantity(accounts.size),
    hasMoreAccounts: next !== undefined,
    firstBlock: toQuantity(one.firstBlock),
    lastBlock: toQuantity(one.lastBlock),
  };
}

function decodeSoughtText(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= LONGEST_TEXT ? value : undefined;
}
