import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../observability/logger.ts";
import { memoized } from "../memoized.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { respondRefusal } from "./httpResponse.ts";
import { logRefusal } from "./refusalLog.ts";

/** True for an Origin that may use the endpoint across origins (json-rpc-errors.md#origins). */
type OriginRule = (origin: string) => boolean;

/**
 * Each entry is a regular expression that must match the whole Origin, as in Besu; `*` or `all` allows any origin, no
 * entries (or `none`) no origin. Throws SyntaxError for an invalid expression.
 */
function createOriginRule(origins: readonly string[]): OriginRule {
  if (origins.some((origin) => origin === "*" || origin === "all")) return () => true;
  const patterns = origins.filter((origin) => origin !== "none");
  if (patterns.length === 0) return () => false;
  const pattern = new RegExp(`^(?:${patterns.join("|")})$`);
  return (origin) => pattern.test(origin);
}

interface OriginGuardParts {
  /** The origins of now, asked for each request. */
  readonly current: () => { readonly corsOrigins: readonly string[] };
  /** Whether callers send tokens. */
  readonly hasTokens: boolean;
  /** Besu's text for a page whose origin is refused. */
  readonly refusal: string;
  /**
   * Whether pages of other sites are refused that do not name their origin, as browsers do not for images, frames and links, unless
   * any origin is allowed: where a GET has the node work.
   */
  readonly refusesUnnamed?: boolean;
  readonly logger: Logger;
  readonly metrics?: Pick<RpcMetrics, "rejected"> | undefined;
}

/** Answers pages of foreign origins and preflights itself; returns true for all others, which go to a route. */
type OriginGuard = (request: IncomingMessage, response: ServerResponse) => boolean;

export function createOriginGuard({
  current,
  hasTokens,
  refusal,
  refusesUnnamed = false,
  logger,
  metrics,
}: OriginGuardParts): OriginGuard {
  const originRule = memoized(current, ({ corsOrigins }) => createOriginRule(corsOrigins));
  // Browsers do not take the star for the header of tokens.
  const allowedHeaders = hasTokens ? "*,content-type,authorization" : "*,content-type";

  return (request, response) => {
    const { headers } = request;
    const { origin } = headers;
    if (origin === undefined && !(refusesUnnamed && isOfOtherSite(headers))) return true;
    if (!originRule()(origin ?? UNNAMED)) {
      metrics?.rejected("origin");
      logRefusal(logger, "origin not allowed", request.socket.remoteAddress);
      respondRefusal(response, 403, refusal);
      return false;
    }
    if (origin === undefined) return true;
    response.setHeader("Access-Control-Allow-Origin", origin);
    if (request.method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return true;
    response.writeHead(204, { "Access-Control-Allow-Headers": allowedHeaders });
    response.end();
    return false;
  };
}

/** Stands for an origin that is not named, which only a rule for any origin allows. */
const UNNAMED = "";

/** Whether a browser says that a page of another site has it send the request; other programs say nothing. */
function isOfOtherSite({ "sec-fetch-site": site }: IncomingMessage["headers"]): boolean {
  return site === "cross-site" || site === "same-site";
}
