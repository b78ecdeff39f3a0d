import { optional } from "../method.ts";
import { GIVEN_QUANTITY } from "../schemas.ts";
import { decodeJsonNumberOrTag } from "./blockParameter.ts";
import { decodeData, decodeIndex, decodeStoragePosition, isAbsent, isObject } from "./parameters.ts";

/** A block number or nonce: a JSON number, or text. Never negative. */
export function decodeOtterscanNumber(value: unknown): bigint | undefined {
  const choice = decodeJsonNumberOrTag(value);
  return typeof choice === "bigint" ? choice : undefined;
}

/** Entries of a page: 1 to `most`. */
export function decodePageSize(most: number): (value: unknown) => number | undefined {
  return (value) => {
    const size = decodeIndex(value);
    return size === undefined || size < 1 || size > most ? undefined : size;
  };
}

/** Which entries of a list are wanted: docs/explorer-api.md, "Pages". */
export interface ListPage {
  readonly size: number;
  readonly order: "newest" | "oldest";
  /** Where the page before ended, as its answer said. */
  readonly cursor: Uint8Array | undefined;
}

const MAX_LIST_PAGE = 100;
/** What a method gives without the parameter. */
export const FIRST_PAGE: ListPage = { size: 25, order: "newest", cursor: undefined };

export function decodeListPage(value: unknown): ListPage | undefined {
  if (!isObject(value)) return undefined;
  const size = isAbsent(value.size) ? FIRST_PAGE.size : decodePageSize(MAX_LIST_PAGE)(value.size);
  const order = isAbsent(value.order) ? FIRST_PAGE.order : orderOf(value.order);
  const cursor = isAbsent(value.cursor) ? undefined : decodeData(value.cursor);
  if (size === undefined || order === undefined) return undefined;
  if (!isAbsent(value.cursor) && cursor === undefined) return undefined;
  return { size, order, cursor };
}

function orderOf(value: unknown): ListPage["order"] | undefined {
  return value === "newest" || value === "oldest" ? value : undefined;
}

/** One id of a token with ids, of at most 32 bytes; all of them where absent. */
export const TOKEN_ID = optional("tokenId", decodeStoragePosition, GIVEN_QUANTITY);
