/** True for an Origin that may use the endpoint across origins (json-rpc-errors.md#origins). */
export type OriginRule = (origin: string) => boolean;

/**
 * Each entry is a regular expression that must match the whole Origin, as in Besu; `*` or `all` allows any origin, no
 * entries (or `none`) no origin. Throws SyntaxError for an invalid expression.
 */
export function createOriginRule(origins: readonly string[]): OriginRule {
  if (origins.some((origin) => origin === "*" || origin === "all")) return () => true;
  const patterns = origins.filter((origin) => origin !== "none");
  if (patterns.length === 0) return () => false;
  const pattern = new RegExp(`^(?:${patterns.join("|")})$`);
  return (origin) => pattern.test(origin);
}
