import type { FoundPlace, IndexView } from "../../../accounts/indexReader.ts";
import {
  END_OF_CHAIN,
  PLACE_BYTES,
  type Place,
  type Placed,
  readPlace,
  START_OF_CHAIN,
  type Subject,
  writePlace,
} from "../../../accounts/layout.ts";
import { toHex } from "../../../primitives/hex.ts";
import { quantityOrNull, toQuantity } from "../../../primitives/quantity.ts";
import type { Json } from "../../method.ts";
import type { ListPage } from "../../parameters/explorerParameters.ts";

/** Entries of a page, and the cursor of the next one; what the index covered when they were found. */
interface FoundPage<Found> extends Pick<IndexView, "first" | "last"> {
  readonly found: readonly Found[];
  readonly next: Uint8Array | undefined;
}

/** Finds the entries of a page within some places. Undefined when the cursor is not one of such a list. */
export async function placesOnPage(
  view: IndexView,
  kind: Placed,
  subject: Subject,
  { size, order, cursor }: ListPage,
  within: { readonly from: Place; readonly until: Place } = WHOLE_CHAIN,
): Promise<FoundPage<FoundPlace> | undefined> {
  if (cursor !== undefined && cursor.length !== PLACE_BYTES) return undefined;
  const found: FoundPlace[] = [];
  const { first, last } = view;
  const { from, until } = boundAt(order, cursor);
  const query = {
    order,
    from: from === undefined || isBefore(from, within.from) ? within.from : from,
    until: until === undefined || isBefore(within.until, until) ? within.until : until,
    limit: size + 1,
  };
  for await (const place of view.placed(kind, subject, query)) {
    const newest = found.at(-1);
    if (found.length === size && newest !== undefined) return { found, next: cursorAt(newest), first, last };
    found.push(place);
  }
  return { found, next: undefined, first, last };
}

/** The answer of a method that lists. */
export function pageAnswer(
  items: readonly Json[],
  { next, first, last }: Pick<FoundPage<never>, "next" | "first" | "last">,
): Json {
  return {
    items,
    next: next === undefined ? null : toHex(next),
    firstBlock: last === undefined ? null : toQuantity(first),
    lastBlock: quantityOrNull(last),
  };
}

function boundAt(order: ListPage["order"], cursor: Uint8Array | undefined): { from?: Place; until?: Place } {
  if (cursor === undefined) return {};
  const place = readPlace(cursor, 0);
  return order === "newest" ? { until: place } : { from: following(place) };
}

function following({ block, position }: Place): Place {
  return position === HIGHEST_POSITION
    ? { block: block + 1, position: 0 }
    : { block, position: position + 1 };
}

/** The cursor of the page after an entry. */
export function cursorAt(place: Place): Uint8Array {
  const cursor = new Uint8Array(PLACE_BYTES);
  writePlace(cursor, 0, place);
  return cursor;
}

function isBefore(one: Place, other: Place): boolean {
  return one.block < other.block || (one.block === other.block && one.position < other.position);
}

const WHOLE_CHAIN = { from: START_OF_CHAIN, until: END_OF_CHAIN };
const HIGHEST_POSITION = 2 ** 32 - 1;
