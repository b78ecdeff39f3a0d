import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostName } from "./hostAllowlist.ts";

/**
 * Whether a request comes from a web page of another origin. Any page can send requests to a node on the computer of the
 * person who views it, so foreign pages get no method that changes the node (dispatcher.ts).
 *
 * The browser states the origin, and pages cannot change it: Origin with every POST and every WebSocket handshake, or
 * Sec-Fetch-Site. Programs other than browsers send neither and are never foreign pages.
 */
export type ForeignRule = (headers: IncomingMessage["headers"]) => boolean;

export interface TrustSettings {
  /** Origins whose pages may change the node, written in full; patterns and * match nothing. */
  readonly trustedOrigins: readonly string[];
  readonly hostAllowlist: readonly string[];
}

/**
 * Two kinds of pages are not foreign: those whose origin the operator listed literally, and those with the same scheme,
 * host and port as the request. `*`, `null` and patterns trust no page. A Host name counts only when the operator allowed
 * it by name, because the owner of any name can point it here (DNS rebinding).
 */
export function createForeignRule({ trustedOrigins, hostAllowlist }: TrustSettings): ForeignRule {
  const trusted = new Set(trustedOrigins.map((origin) => origin.replaceAll("\\", "").toLowerCase()));
  for (const origin of NEVER_TRUSTED) trusted.delete(origin);
  const hosts = new Set(hostAllowlist.map((host) => host.toLowerCase()));

  function isOwn(origin: string, host = ""): boolean {
    // A proxy in front of the node may terminate TLS and leave Host as it is.
    if (origin !== `http://${host}` && origin !== `https://${host}`) return false;
    const name = hostName(host)?.replace(/^\[(.*)\]$/, "$1") ?? "";
    return isIP(name) !== 0 || name === "localhost" || hosts.has(name);
  }

  return ({ origin, host, "sec-fetch-site": site }) => {
    if (origin === undefined) return site === "cross-site" || site === "same-site";
    const text = origin.toLowerCase();
    return !trusted.has(text) && !isOwn(text, host?.toLowerCase());
  };
}

/** Any page can have the origin `null` by using a sandboxed frame. */
const NEVER_TRUSTED = ["*", "null"];
