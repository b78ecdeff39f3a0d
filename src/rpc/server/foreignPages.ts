import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostName } from "./hostAllowlist.ts";

/**
 * Whether a request is a web page's that does not belong to this endpoint: any page may send requests to a node on the
 * machine of whoever looks at it, so such a page is offered nothing that changes the node (dispatcher.ts).
 *
 * The browser says whose page it is, and pages cannot change that: Origin with every POST and every WebSocket handshake,
 * or Sec-Fetch-Site. Programs say neither, and are nobody's page.
 */
export type ForeignRule = (headers: IncomingMessage["headers"]) => boolean;

/**
 * Pages that are not foreign: those of an origin that the operator named, letter by letter, and those of the very
 * scheme, host and port that were asked. `*`, `null` and patterns name nobody. A host name that the operator did not allow by its
 * name is no proof: whoever owns a name may point it here (DNS rebinding).
 */
export function createForeignRule(
  namedOrigins: readonly string[],
  allowedHosts: readonly string[],
): ForeignRule {
  const named = new Set(namedOrigins.map((origin) => origin.replaceAll("\\", "").toLowerCase()));
  for (const nobody of NOBODY) named.delete(nobody);
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()));

  function isOwn(origin: string, host = ""): boolean {
    // Encryption may end at a proxy before us, which leaves Host as it is.
    if (origin !== `http://${host}` && origin !== `https://${host}`) return false;
    const name = hostName(host)?.replace(/^\[(.*)\]$/, "$1") ?? "";
    return isIP(name) !== 0 || name === "localhost" || hosts.has(name);
  }

  return ({ origin, host, "sec-fetch-site": site }) => {
    if (origin === undefined) return site === "cross-site" || site === "same-site";
    const text = origin.toLowerCase();
    return !named.has(text) && !isOwn(text, host?.toLowerCase());
  };
}

/** Any page may have the origin `null`: that of a sandboxed frame. */
const NOBODY = ["*", "null"];
