import type { IncomingMessage } from "node:http";
import { isIPv6, SocketAddress } from "node:net";

/** Names the remote host of a request. */
export type HostRule = (request: IncomingMessage) => string;

/** Names the host of the connection. */
export const connectionHost: HostRule = ({ socket }) => remoteHostOf(socket.remoteAddress);

/**
 * The remote host of a connection: its IPv4 address, or the upper 64 bits of its IPv6 address, which name a network,
 * because the owner of one such address usually has the whole network.
 */
export function remoteHostOf(remoteAddress: string | undefined): string {
  return networkOf(remoteAddress, NETWORK_GROUPS);
}

/** Like `remoteHostOf`, but with the upper 48 bits of an IPv6 address: anybody can have those, with all the networks in them. */
export function siteOf(remoteAddress: string | undefined): string {
  return networkOf(remoteAddress, SITE_GROUPS);
}

function networkOf(remoteAddress: string | undefined, groups: number): string {
  if (remoteAddress === undefined) return "unknown";
  const [, mapped] = IPV4_AS_IPV6.exec(remoteAddress) ?? [];
  if (mapped !== undefined || !remoteAddress.includes(":")) return mapped ?? remoteAddress;
  const [head = [], tail] = remoteAddress
    .split("::")
    .map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = tail === undefined ? [] : Array(Math.max(0, GROUPS - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...(tail ?? [])].slice(0, groups).join(":");
}

const IPV4_AS_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** Groups of 16 bits in an IPv6 address. */
const GROUPS = 8;
const NETWORK_GROUPS = 4;
const SITE_GROUPS = 3;

/** An IP address in the form that a socket's `remoteAddress` has; an IPv4-mapped IPv6 address as IPv4. */
export function canonicalAddress(address: string): string {
  const plain = isIPv6(address) ? new SocketAddress({ address, family: "ipv6" }).address : address;
  return IPV4_AS_IPV6.exec(plain)?.[1] ?? plain;
}

/** Tells the addresses that many clients may share; `localhost` among them stands for all addresses of this machine. */
export function createProxyRule(
  addresses: readonly string[],
): (remoteAddress: string | undefined) => boolean {
  const listed = new Set(addresses.filter((address) => address !== "localhost").map(canonicalAddress));
  const isLocal = addresses.includes("localhost") ? LOOPBACK : undefined;
  return (remoteAddress = "") =>
    isLocal?.test(remoteAddress) === true || (listed.size > 0 && listed.has(canonicalAddress(remoteAddress)));
}

const LOOPBACK = /^(::ffff:)?127\.|^::1$/i;
