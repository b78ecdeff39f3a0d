/** True for an Origin that pages of other sites may have (json-rpc-errors.md#origins). */
export type OriginRule = (origin: string) => boolean;

/**
 * Each entry is a regular expression that must match the whole Origin, as with the incumbent; `*` or `all` is any
 * origin, no entries (or `none`) none. Throws SyntaxError for an expression that is none.
 */
export function createOriginRule(origins: readonly string[]): OriginRule {
  if (origins.some((origin) => origin === "*" || origin === "all")) return () => true;
  const patterns = origins.filter((origin) => origin !== "none");
  if (patterns.length === 0) return () => false;
  const pattern = new RegExp(`^(?:${patterns.join("|")})$`);
  return (origin) => pattern.test(origin);
}
