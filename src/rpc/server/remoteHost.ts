import { isIPv6, SocketAddress } from "node:net";

/**
 * The machine behind the remote address of a connection, as far as addresses tell: an IPv4 address, or the 64 bits of an
 * IPv6 address that name a network, because whoever has one such address has all of that network.
 */
export function remoteHostOf(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return "unknown";
  const [, mapped] = IPV4_AS_IPV6.exec(remoteAddress) ?? [];
  if (mapped !== undefined || !remoteAddress.includes(":")) return mapped ?? remoteAddress;
  const [head = [], tail] = remoteAddress
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = tail === undefined ? [] : Array(Math.max(0, GROUPS - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...(tail ?? [])].slice(0, NETWORK_GROUPS).join(":");
}

const IPV4_AS_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** Of 16 bits each. */
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** An IP address in the one spelling that addresses of connections have; an IPv4 address where it stands in an IPv6 one. */
export function canonicalAddress(address: string): string {
  const plain = isIPv6(address) ? new SocketAddress({ address, family: "ipv6" }).address : address;
  return IPV4_AS_IPV6.exec(plain)?.[1] ?? plain;
}
