import { isDeepStrictEqual } from "node:util";
import type { AuthenticationSettings, UserSettings } from "../../config/settings.ts";
import type { GuardedServerName, SERVERS } from "../../rpc/server/serverTable.ts";
import type { TlsRules } from "../../rpc/server/tls/tlsRules.ts";

/** What changed of a server's users and keys, in the operator's words and without a secret. */
export function authenticationChanges(
  server: (typeof SERVERS)[GuardedServerName]["option"],
  now: AuthenticationSettings | undefined,
  before: AuthenticationSettings | undefined,
): string[] {
  const changes: string[] = [];
  if (now?.issuer?.publicKey !== before?.issuer?.publicKey) changes.push(`${server} tokens: another key`);
  const users = now?.users ?? [];
  const old = new Map((before?.users ?? []).map((user) => [user.name, user]));
  const added = users.filter(({ name }) => !old.has(name)).length;
  const removed = old.size + added - users.length;
  const changed = users.filter((user) => isOther(user, old.get(user.name))).length;
  if (added + removed + changed > 0)
    changes.push(`${server} users: ${added} added, ${removed} removed, ${changed} changed`);
  return changes;
}

function isOther({ passwordHash, permissions }: UserSettings, old: UserSettings | undefined): boolean {
  if (old === undefined) return false;
  return passwordHash !== old.passwordHash || permissions.join(" ") !== old.permissions.join(" ");
}

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
