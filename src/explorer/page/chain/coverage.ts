import { showNumber } from "../format.ts";
import type { ListPage } from "./tokens.ts";

/** The part of the chain that a list covers, when the index has forgotten its beginning. */
export function coverageOf(page: Pick<ListPage<unknown>, "firstBlock"> | undefined): string | undefined {
  const first = Number(page?.firstBlock ?? 0);
  // The genesis block has no logs.
  return first <= 1 ? undefined : `since block ${showNumber(first)}`;
}
