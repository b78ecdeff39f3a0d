import type { AuthenticationSettings, Settings } from "../../config/settings.ts";
import type { Login } from "../../rpc/access/gate.ts";
import { createLogin } from "./logins.ts";
import { createPasswordChecker } from "./passwords.ts";
import { createTokenIssuer, type TokenIssuer } from "./tokenIssuer.ts";
import { createWrongLogins } from "./wrongLogins.ts";

/**
 * Who may call the JSON-RPC servers (json-rpc-errors.md#authentication):
 *
 *   server or thread ── Gate: is the token of the issuer, and what does it allow ── rpc/access
 *          └ POST /login ──> Login: password, on a thread of its own ──> TokenIssuer ── here, on the main thread
 *
 * Keys for passwords and tokens never leave the main thread and the one that compares passwords.
 */
export interface Access {
  /** The log-in of a server; undefined where nobody can log in. */
  readonly logins: { readonly http: Login | undefined; readonly webSocket: Login | undefined };
  /** Public keys of the tokens that this node issues, for threads. */
  readonly issuedKeys: IssuedKeys;
  close(): Promise<void>;
}

/** PEM; undefined where others issue the tokens. */
export interface IssuedKeys {
  readonly http?: string | undefined;
  readonly webSocket?: string | undefined;
}

type Servers = Pick<Settings, "http" | "webSocket">;

/** `current` are the settings of now; which servers have users does not change. `nowMs` is the wall clock. */
export async function openAccess(current: () => Servers, nowMs: () => number): Promise<Access> {
  const { http, webSocket } = current();
  const passwords = createPasswordChecker();
  const wrongLogins = createWrongLogins(() => performance.now());
  const issuerFor = (authentication: AuthenticationSettings | undefined): Promise<TokenIssuer> | undefined =>
    authentication?.users === undefined ? undefined : createTokenIssuer(nowMs);
  const issuers = {
    http: await issuerFor(http?.authentication),
    webSocket: await issuerFor(webSocket?.authentication),
  };
  const loginOf = (server: keyof Servers): Login | undefined => {
    const issuer = issuers[server];
    const users = () => current()[server]?.authentication?.users ?? [];
    return issuer && createLogin({ users, issuer, passwords, wrongLogins });
  };
  return {
    logins: { http: loginOf("http"), webSocket: loginOf("webSocket") },
    issuedKeys: { http: issuers.http?.publicKey, webSocket: issuers.webSocket?.publicKey },
    close: () => passwords.close(),
  };
}

/** Settings for a thread, which needs no password hashes. */
export function withoutUsers<Server extends Servers>(servers: Server): Server {
  return { ...servers, http: strip(servers.http), webSocket: strip(servers.webSocket) };
}

function strip<S extends { readonly authentication: AuthenticationSettings | undefined }>(
  server: S | undefined,
): S | undefined {
  if (server?.authentication?.users === undefined) return server;
  return { ...server, authentication: { ...server.authentication, users: [] } };
}
