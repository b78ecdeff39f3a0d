import { isDeepStrictEqual } from "node:util";
import type { AuthenticationSettings, Settings, UserSettings } from "../../config/settings.ts";
import {
  GUARDED_SERVERS,
  type GuardedServerName,
  SERVERS,
  type ServerName,
} from "../../rpc/server/serverTable.ts";
import type { TlsRules } from "../../rpc/server/tls/tlsRules.ts";

type Offered = Pick<Settings, ServerName>;

/** What changed of the servers' lists, keys, clients and users, in the operator's words and without a secret. */
export function accessChanges(now: Offered, before: Offered): string[] {
  return [
    ...listChanges(now, before),
    ...GUARDED_SERVERS.flatMap((name) => tlsChanges(SERVERS[name].option, now[name]?.tls, before[name]?.tls)),
    ...GUARDED_SERVERS.flatMap((name) =>
      authenticationChanges(SERVERS[name].option, now[name]?.authentication, before[name]?.authentication),
    ),
  ];
}

function listChanges(now: Offered, before: Offered): string[] {
  const old = listsOf(before);
  return listsOf(now).flatMap(([name, list], index) => {
    const shown = list?.join(",") || "none";
    const was = old[index]?.[1]?.join(",") || "none";
    return shown === was ? [] : [`${name}=${shown} (was ${was})`];
  });
}

function listsOf({
  http,
  webSocket,
  ipc,
  graphQl,
  metrics,
}: Offered): readonly (readonly [name: string, list: readonly string[] | undefined])[] {
  const servers = [http, webSocket, graphQl, metrics?.server];
  return [
    ["host-allowlist", servers.find((server) => server !== undefined)?.hostAllowlist],
    ["rpc-http-api", http?.groups],
    ["rpc-http-api-method-no-auth", http?.authentication?.openMethods],
    ["rpc-http-cors-origins", http?.corsOrigins],
    ["graphql-http-cors-origins", graphQl?.corsOrigins],
    ["rpc-ws-api", webSocket?.groups],
    ["rpc-ws-api-method-no-auth", webSocket?.authentication?.openMethods],
    ["rpc-ws-origins", (webSocket ?? http)?.trustedOrigins],
    ["Xrpc-ipc-api", ipc?.groups],
  ];
}

function authenticationChanges(
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

function tlsChanges(
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
