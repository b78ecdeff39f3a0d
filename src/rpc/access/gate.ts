import type { IncomingMessage } from "node:http";
import type { Logger } from "../../observability/logger.ts";
import { onceKnown } from "../../primitives/eventual.ts";
import { memoized } from "../memoized.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { logRefusal } from "../server/refusalLog.ts";
import { remoteHostOf } from "../server/remoteHost.ts";
import { type Grant, grantOpenMethods, grantPermissions } from "./grant.ts";
import type { Login } from "./login.ts";
import { RefusedToken, TokenChecker, type TokenRules } from "./tokens.ts";

/**
 * Decides what a caller of a server with authentication may do (json-rpc-errors.md#authentication). Without one, everybody
 * may call everything.
 *
 *   no token, and no method without token   ─> nothing: refused before the request is read
 *   no token, or one that does not count    ─> the methods without token
 *   a token that counts                     ─> those and what its permissions allow
 */
export interface Gate {
  /** Whether nothing at all can be called without a token. */
  readonly needsToken: boolean;
  /** The methods for the holder of this token; undefined for a caller without. `client` is its address, for the log and the queue. */
  grant(token: string | undefined, client: string | undefined): Grant | Promise<Grant>;
  /** Whether who was granted this may still be told of events: its token counts, or no token is needed for them. */
  maySubscribe(grant: Grant): boolean;
  /** Undefined where nobody can log in. */
  readonly login: Login | undefined;
}

/** Replaced as a whole when the operator changes something. */
export interface GateRules {
  readonly tokens: TokenRules;
  readonly openMethods: readonly string[];
}

export interface GateParts {
  readonly login: Login | undefined;
  /** The wall clock. */
  readonly nowMs: () => number;
  readonly logger: Logger;
  readonly metrics?: RpcMetrics | undefined;
}

export function createGate(rules: () => GateRules, { login, nowMs, logger, metrics }: GateParts): Gate {
  const checks = memoized(rules, ({ tokens, openMethods }) => {
    const open = new Set(openMethods);
    return {
      needsToken: open.size === 0,
      anonymous: grantOpenMethods(open),
      tokens: new TokenChecker<Grant>(
        tokens,
        (permissions, expiresAtMs) => grantPermissions(permissions, open, expiresAtMs),
        nowMs,
      ),
    };
  });
  return {
    get needsToken() {
      return checks().needsToken;
    },
    grant(token, client) {
      const { anonymous, tokens } = checks();
      if (token === undefined) return anonymous;
      const settle = (checked: Grant | RefusedToken): Grant => {
        if (!(checked instanceof RefusedToken)) return checked;
        metrics?.rejected("token");
        logRefusal(logger, `token: ${checked.reason}`, client);
        return anonymous;
      };
      return onceKnown(tokens.check(token, remoteHostOf(client)), settle);
    },
    maySubscribe({ expiresAtMs }) {
      return expiresAtMs === undefined || nowMs() < expiresAtMs || checks().anonymous.allows(SUBSCRIBE);
    },
    login,
  };
}

const SUBSCRIBE = { name: "eth_subscribe" };

const SCHEME = "Bearer ";

/**
 * The token of a request, as it came. Of two Authorization headers none counts, since a proxy may have looked at the other
 * one.
 */
export function tokenOf({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, "headers" | "rawHeaders">): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined || !authorization.startsWith(SCHEME)) return undefined;
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === "authorization") count++;
  return count === 1 ? authorization.slice(SCHEME.length) : undefined;
}
