import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { canonicalAddress, siteOf } from "../rpc/server/remoteHost.ts";

/**
 * The remote host of a visitor: that of the connection, or behind a proxy that the operator has named
 * (--explorer-proxy-addresses), the newest address in X-Forwarded-For that is not such a proxy. Earlier addresses were
 * written by the visitor, and may be made up. All networks of one IPv6 site are one visitor.
 */
export function visitorHost(
  {
    socket,
    headers,
  }: Pick<IncomingMessage, "headers"> & { readonly socket: { remoteAddress?: string | undefined } },
  isProxy: (address: string) => boolean,
): string {
  const { remoteAddress } = socket;
  if (remoteAddress === undefined || !isProxy(remoteAddress)) return siteOf(remoteAddress);
  const forwarded = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
  const newest = forwarded
    .map((part) => part.trim())
    .findLast((address) => isIP(address) === 0 || !isProxy(address));
  // A proxy that sends no address is one visitor.
  if (newest === undefined || isIP(newest) === 0) return siteOf(remoteAddress);
  return siteOf(canonicalAddress(newest));
}
