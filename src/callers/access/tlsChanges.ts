import { isDeepStrictEqual } from "node:util";
import type { GuardedServerName, SERVERS } from "../../rpc/server/serverTable.ts";
import type { TlsRules } from "../../rpc/server/tls/tlsRules.ts";

/** What changed of a server's keys and clients, in the operator's words and without a secret. */
export function tlsChanges(
  server: (typeof SERVERS)[GuardedServerName]["option"],
  now: TlsRules | undefined,
  before: TlsRules | undefined,
): string[] {
  const changes: string[] = [];
  if (!isDeepStrictEqual(now?.identity, before?.identity)) changes.push(`${server} TLS: another certificate`);
  if (isDeepStrictEqual(now?.clients, before?.clients)) return changes;
  const known = now?.clients?.known.length ?? 0;
  return [...changes, `${server} TLS: other clients, ${known} known by name`];
}
