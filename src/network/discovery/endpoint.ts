import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { bytesToBigint } from "../../primitives/quantity.ts";
import { encodeRlpIndex, encodeRlpList, encodeRlpString, type RlpItem } from "../../primitives/rlp.ts";
import type { NodeAddress } from "../dialer.ts";

/** The endpoint at which a node is reached (p2p.md#discovery-v4). */
export interface Endpoint {
  /** IP address in its shortest text form; an IPv4-mapped IPv6 address is in its IPv4 form. */
  readonly ip: string;
  readonly udpPort: number;
  /** 0 when the node does not listen for connections, or does not say. */
  readonly tcpPort: number;
}

/** Encodes an endpoint as [ip, udp port, tcp port]. */
export function encodeEndpoint({ ip, udpPort, tcpPort }: Endpoint): Uint8Array {
  return encodeRlpList(endpointMembers({ ip, udpPort, tcpPort }));
}

/** The encoded members of an endpoint, for lists with further members. */
export function endpointMembers({ ip, udpPort, tcpPort }: Endpoint): readonly Uint8Array[] {
  return [encodeRlpString(ipBytes(ip)), encodeRlpIndex(udpPort), encodeRlpIndex(tcpPort)];
}

/** Decodes an endpoint of two or more items; throws RangeError for anything else. An empty address belongs to no host. */
export function endpointFromItems(items: RlpItem | undefined): Endpoint {
  if (items === undefined || items instanceof Uint8Array) throw new RangeError("an endpoint is a list");
  const [ip, udpPort, tcpPort] = items;
  return {
    ip: ipText(bytesOf(ip)),
    udpPort: portOf(bytesOf(udpPort)),
    tcpPort: tcpPort === undefined ? 0 : portOf(bytesOf(tcpPort)),
  };
}

/** The string in `item`; throws RangeError for a list, and for undefined. */
export function bytesOf(item: RlpItem | undefined): Uint8Array {
  if (item instanceof Uint8Array) return item;
  throw new RangeError("a list, or nothing, instead of bytes");
}

/** Decodes a port; throws RangeError for more than 16 bits. Leading zeros are allowed, as in Besu. */
export function portOf(bytes: Uint8Array): number {
  const port = bytesToBigint(bytes.subarray(0, 32));
  if (bytes.length > 32 || port > 65_535n) throw new RangeError("a port has at most 16 bits");
  return Number(port);
}

/** The 4 or 16 bytes of an IP address; throws RangeError for other text. */
export function ipBytes(ip: string): Uint8Array {
  if (isIPv4(ip)) return Uint8Array.from(ip.split(".").map(Number));
  if (!isIPv6(ip)) throw new RangeError(`not an IP address: ${ip}`);
  const [head = "", tail] = dottedAsHex(ip.replace(/%.*$/, "")).split("::");
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const zeros = new Array<number>(8 - before.length - after.length).fill(0);
  return Uint8Array.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

/** Inverse of ipBytes; no bytes give the unspecified address. Throws RangeError for another length. */
export function ipText(bytes: Uint8Array): string {
  if (bytes.length === 0) return "0.0.0.0";
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) throw new RangeError("an IP address has 4 or 16 bytes");
  if (MAPPED_IPV4.every((byte, at) => bytes[at] === byte)) return bytes.subarray(12).join(".");
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return shortened(groups);
}

/** Where a node listens, with its address as bytes and in the form of ipText; undefined where its host is a name. */
export function ipEndpointOf({ nodeId, host, tcpPort }: NodeAddress) {
  if (isIP(host) === 0) return undefined;
  const text = ipText(ipBytes(host));
  return { nodeId, ip: ipBytes(text), host: text, tcpPort };
}

/** The address of a datagram's sender, in the form of ipText. */
export function plainIp(address: string): string {
  return isIPv4(address) ? address : ipText(ipBytes(address));
}

/** Whether a node at `by` may name one at `ip`: nobody outside a private network knows its addresses. */
export function isRelayable(ip: string, by: string): boolean {
  if (isIn(NOWHERE, ip)) return false;
  if (isIn(LOOPBACK, ip)) return isIn(LOOPBACK, by);
  return !isIn(PRIVATE, ip) || isIn(PRIVATE, by) || isIn(LOOPBACK, by);
}

/** Whether `ip` is local: on this host, or in a private network. */
export function isLocal(ip: string): boolean {
  return isIn(LOOPBACK, ip) || isIn(PRIVATE, ip);
}

/** The subnet that addresses of one operator share: /24 of IPv4, /64 of IPv6. */
export function subnetOf(ip: string): string {
  return Buffer.from(ipBytes(ip).subarray(0, isIPv4(ip) ? 3 : 8)).toString("hex");
}

function isIn(list: BlockList, ip: string): boolean {
  return list.check(ip, isIPv4(ip) ? "ipv4" : "ipv6");
}

function blockList(...subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits = ""] = subnet.split("/");
    list.addSubnet(address, Number(bits), isIPv4(address) ? "ipv4" : "ipv6");
  }
  return list;
}

/** Addresses that no host has: unspecified, multicast, documentation, reserved. */
const NOWHERE = blockList("0.0.0.0/8", "224.0.0.0/3", "::/128", "ff00::/8", "2001:db8::/32");
const LOOPBACK = blockList("127.0.0.0/8", "::1/128");
const PRIVATE = blockList(
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "169.254.0.0/16",
  "100.64.0.0/10",
  "fc00::/7",
  "fe80::/10",
);

const MAPPED_IPV4 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

function groupsOf(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

/** Writes ::ffff:1.2.3.4 as ::ffff:102:304. */
function dottedAsHex(ip: string): string {
  return ip.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const group = (high: unknown, low: unknown): string => (Number(high) * 256 + Number(low)).toString(16);
    return `${group(a, b)}:${group(c, d)}`;
  });
}

/** Shortens an IPv6 address: the first of the longest runs of two or more zeros becomes "::" (RFC 5952). */
function shortened(groups: readonly string[]): string {
  let best = { at: 0, length: 1 };
  for (let at = 0; at < groups.length; at++) {
    let length = 0;
    while (groups[at + length] === "0") length++;
    if (length > best.length) best = { at, length };
  }
  if (best.length === 1) return groups.join(":");
  return `${groups.slice(0, best.at).join(":")}::${groups.slice(best.at + best.length).join(":")}`;
}
