import type { AccountIndexReader, FoundPlace } from "../../../accounts/indexReader.ts";
import type { Place, Placed, Subject } from "../../../accounts/layout.ts";
import type { ChainReader } from "../../../chain/chainReader.ts";
import type { StoredBlock } from "../../../types/block.ts";
import { invalidParams } from "../../errors/errors.ts";
import type { Answer, Json } from "../../method.ts";
import type { ActivityFilter } from "../../parameters/activityFilter.ts";
import type { ListPage } from "../../parameters/explorerParameters.ts";
import { indexedBlocks } from "../../results/indexedBlocks.ts";
import { cursorAt, pageAnswer, placesOnPage } from "./listPages.ts";

/** Entries that are looked at for one page where a filter must read them: each may be in a block of its own. */
const MOST_LOOKED_AT = 300;

interface FilteredQuery {
  readonly kind: Placed;
  readonly subject: Subject;
  readonly page: ListPage;
  readonly filter: ActivityFilter;
  /** Whether the filter leaves out entries besides those of other blocks. */
  readonly isSelective: boolean;
  /** The items of an entry; none where the filter leaves it out, or its block has gone. */
  items(block: StoredBlock, place: FoundPlace): readonly Json[];
}

/**
 * A page of entries that pass a filter. It may have fewer items than its size, or none, and still a next one, because it looks
 * at a bounded number of entries.
 */
export async function filteredPage(
  chain: ChainReader,
  accounts: Pick<AccountIndexReader, "read">,
  { kind, subject, page, filter, isSelective, items }: FilteredQuery,
): Promise<Answer> {
  const within = blocksWithin(chain, filter);
  const size = isSelective ? MOST_LOOKED_AT : page.size;
  const found = await accounts.read(chain, (view) =>
    placesOnPage(view, kind, subject, { ...page, size }, within),
  );
  if (found === undefined) return invalidParams("the cursor is not one of this list");
  const passed: Json[] = [];
  for await (const { block, places } of indexedBlocks(chain, found.found))
    for (const place of places) {
      passed.push(...items(block, place));
      if (passed.length < page.size) continue;
      const isLast = place === found.found.at(-1);
      return pageAnswer(passed, { ...found, next: isLast ? found.next : cursorAt(place) });
    }
  return pageAnswer(passed, found);
}

/** The places of the blocks that a filter names. */
function blocksWithin(
  chain: Pick<ChainReader, "head" | "headerByNumber">,
  { fromBlock = 0, toBlock, fromTime, beforeTime }: ActivityFilter,
): { readonly from: Place; readonly until: Place } {
  const first = fromTime === undefined ? 0 : firstBlockAt(chain, fromTime);
  const end = beforeTime === undefined ? Number.MAX_SAFE_INTEGER : firstBlockAt(chain, beforeTime);
  const until = Math.min(LAST_BLOCK, end, (toBlock ?? LAST_BLOCK) + 1);
  return { from: { block: Math.max(first, fromBlock), position: 0 }, until: { block: until, position: 0 } };
}

const LAST_BLOCK = 2 ** 48 - 1;

/** The first block of that time or later; one after the head when there is none. Times rise with blocks. */
function firstBlockAt(chain: Pick<ChainReader, "head" | "headerByNumber">, seconds: number): number {
  let low = 0;
  let high = Number(chain.head.header.number) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const header = chain.headerByNumber(BigInt(middle))?.header;
    if (header !== undefined && Number(header.timestamp) < seconds) low = middle + 1;
    else high = middle;
  }
  return low;
}
