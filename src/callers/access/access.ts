import type { AuthenticatedSettings, Settings } from "../../config/settings.ts";
import type { Login } from "../../rpc/access/login.ts";
import {
  forServers,
  GUARDED_SERVERS,
  type GuardedServerName,
  THREAD_SERVERS,
} from "../../rpc/server/serverTable.ts";
import { mapServers, type ServerSettings } from "../threads/serverSettings.ts";
import { createLogin } from "./logins.ts";
import { PasswordChecker } from "./passwords.ts";
import { createTokenIssuer, type TokenIssuer } from "./tokenIssuer.ts";
import { WrongLogins } from "./wrongLogins.ts";

/**
 * Who may call the servers of JSON-RPC and GraphQL (json-rpc-errors.md#authentication):
 *
 *   server or thread ── Gate: is the token of the issuer, and what does it allow ── rpc/access
 *          └ POST /login ──> Login: password, on a thread of its own ──> TokenIssuer ── here, on the main thread
 *
 * Keys for passwords and tokens never leave the main thread and the one that compares passwords.
 */
export interface Access {
  /** The log-in of a server; undefined where nobody can log in. */
  readonly logins: Readonly<Record<GuardedServerName, Login | undefined>>;
  /** Public keys of the tokens that this node issues, for threads. */
  readonly issuedKeys: IssuedKeys;
  close(): Promise<void>;
}

/** PEM; undefined where others issue the tokens. */
export type IssuedKeys = { readonly [Name in GuardedServerName]?: string | undefined };

type Servers = Pick<Settings, GuardedServerName>;

/** `current` are the settings of now; which servers have users does not change. `nowMs` is the wall clock. */
export async function openAccess(current: () => Servers, nowMs: () => number): Promise<Access> {
  const passwords = new PasswordChecker();
  const wrongLogins = new WrongLogins(() => performance.now());
  const configured = current();
  const issuers = new Map<GuardedServerName, TokenIssuer>();
  for (const name of GUARDED_SERVERS) {
    if (configured[name]?.authentication?.users === undefined) continue;
    // GraphQL and JSON-RPC over HTTP, which have the same users, take one another's tokens.
    const shared = name === "graphQl" ? issuers.get("http") : undefined;
    issuers.set(name, shared ?? (await createTokenIssuer(nowMs)));
  }
  const loginOf = (server: GuardedServerName): Login | undefined => {
    const issuer = issuers.get(server);
    const users = () => current()[server]?.authentication?.users ?? [];
    return issuer && createLogin({ users, issuer, passwords, wrongLogins });
  };
  return {
    logins: forServers(GUARDED_SERVERS, loginOf),
    issuedKeys: forServers(GUARDED_SERVERS, (name) => issuers.get(name)?.publicKey),
    close: () => passwords.close(),
  };
}

/** Settings for threads, which need no password hashes. */
export function withoutUsers(servers: ServerSettings): ServerSettings {
  return mapServers(servers, THREAD_SERVERS, (server) => {
    const { authentication } = server as Partial<AuthenticatedSettings>;
    if (authentication?.users === undefined) return server;
    return { ...server, authentication: { ...authentication, users: [] } };
  });
}
