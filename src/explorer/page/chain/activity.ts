import { readAddress } from "./addresses.ts";

/** A filter of an account's lists as it stands in the page's address. Empty texts filter nothing. */
export interface ActivityQuery {
  readonly direction: string;
  readonly kind: string;
  readonly token: string;
  /** A date such as 2026-11-30, or a block number. */
  readonly since: string;
  readonly until: string;
}

export const NO_FILTER: ActivityQuery = { direction: "", kind: "", token: "", since: "", until: "" };

/** The filter in the query of the page's address. */
export function activityIn(query: URLSearchParams): ActivityQuery {
  const read = (name: string): string => (query.get(name) ?? "").slice(0, 60);
  return {
    direction: read("direction"),
    kind: read("kind"),
    token: read("token"),
    since: read("since"),
    until: read("until"),
  };
}

/** The filter as the query of a link, without its question mark; empty for none. */
export function queryOf(filter: ActivityQuery): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return new URLSearchParams(given.map(([name, value]) => [name, value.trim()])).toString();
}

/** The filter as the node takes it (docs/explorer-api.md, "Filters"); or why it cannot be read. */
export function filterOf(
  query: ActivityQuery,
): { readonly filter: Readonly<Record<string, unknown>> } | { readonly problem: string } {
  const { direction, kind, token, since, until } = query;
  const reading = readAddress(token);
  if (token.trim() !== "" && reading.kind !== "address")
    return { problem: "The token is not an address: 0x and 40 hexadecimal digits." };
  const [from, to] = [momentOf(since, "since"), momentOf(until, "until")];
  if (from === undefined || to === undefined)
    return { problem: "A time is a date, such as 2026-11-30, or the number of a block." };
  return {
    filter: {
      ...(direction !== "" && { direction }),
      ...(kind !== "" && { kind }),
      ...(reading.kind === "address" && { token: reading.address }),
      ...from,
      ...to,
    },
  };
}

/** The bounds that a date or a block number sets; undefined for another text. Both ends are included. */
function momentOf(text: string, end: "since" | "until"): Readonly<Record<string, number>> | undefined {
  const moment = text.trim();
  if (moment === "") return {};
  if (/^\d{1,9}$/.test(moment)) return { [end === "since" ? "fromBlock" : "toBlock"]: Number(moment) };
  if (!/^\d{4}-\d{2}-\d{2}$/.test(moment)) return undefined;
  const seconds = Date.parse(`${moment}T00:00:00Z`) / 1_000;
  if (Number.isNaN(seconds) || seconds < 0) return undefined;
  return end === "since" ? { fromTime: seconds } : { beforeTime: seconds + SECONDS_OF_DAY };
}

const SECONDS_OF_DAY = 86_400;
