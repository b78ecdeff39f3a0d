import type { IncomingMessage } from "node:http";

/**
 * Whether a request comes from this port's own page, or from a program. Browsers send Origin with every POST and every
 * WebSocket handshake, even to a page's own origin, and pages cannot change it. The host was checked before
 * (--host-allowlist), and a proxy in front of the node may terminate TLS.
 */
export function isOwnPage({
  origin,
  host = "",
  "sec-fetch-site": site,
}: IncomingMessage["headers"]): boolean {
  if (origin === undefined) return site === undefined || site === "same-origin" || site === "none";
  const text = origin.toLowerCase();
  const name = host.toLowerCase();
  return text === `http://${name}` || text === `https://${name}`;
}
