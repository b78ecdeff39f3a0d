import { call } from "./connection.ts";
import type { ListPage, TokenHolder } from "./tokens.ts";

/** Most holders that are ranked: each balance is a request to the contract. */
export const MOST_RANKED = 1_000;
/** Most requests for one ranking. Each reads at most 200 balances, many of which may be zero. */
const MOST_REQUESTS = 10;
const REQUESTED = 100;

interface RankedHolders {
  /** Holders by balance, the largest first; those without a proper answer of the contract come last. */
  readonly holders: readonly TokenHolder[];
  /** Whether there may be more holders, even with larger balances. */
  readonly isCut: boolean;
  readonly firstBlock: string | null;
}

/** The holders of a token, or of one of its ids, in the order of their balances. */
export async function rankedHolders(token: string, tokenId?: string): Promise<RankedHolders> {
  const found: TokenHolder[] = [];
  let cursor: string | null = null;
  let firstBlock: string | null = null;
  for (let count = 0; count < MOST_REQUESTS; count++) {
    const page: ListPage<TokenHolder> = await call("explorer_getTokenHolders", [
      token,
      { size: REQUESTED, cursor },
      ...(tokenId === undefined ? [] : [tokenId]),
    ]);
    found.push(...page.items);
    ({ next: cursor, firstBlock } = page);
    if (cursor === null) break;
  }
  return { holders: found.sort(byBalance), isCut: cursor !== null, firstBlock };
}

function byBalance(one: TokenHolder, other: TokenHolder): number {
  const difference = BigInt(other.balance ?? -1) - BigInt(one.balance ?? -1);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}
