import { isIP } from "node:net";
import { parseJson, placeOf } from "../chainspec/json.ts";
import { parseHex, toHex } from "../primitives/hex.ts";
import { ok, type Result } from "../primitives/result.ts";
import { bad, listType, type ValueType } from "./valueTypes.ts";

/**
 * Host names in enode URLs: none, those that a name server knows (--Xdns-enabled), or also those that it may know later
 * (--Xdns-update-enabled).
 */
export type HostNames = "none" | "known" | "any";

/** The parts of an enode URL (p2p.md#enode-urls). */
export interface Enode {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  /** IP address without brackets, or a host name; the caller checks whether --Xdns-enabled allows names. */
  readonly host: string;
  /** Undefined when the node does not listen for connections. */
  readonly tcpPort: number | undefined;
  /** Undefined when the node takes no part in discovery. */
  readonly udpPort: number | undefined;
}

const FORM =
  "Enode URL should have the following format 'enode://<node_id>@<ip>:<listening_port>[?discport=<discovery_port>]'.";

/** Errors have Besu's sentence followed by the detail. */
export function parseEnode(url: string): Result<Enode, "badValue"> {
  const malformed = (detail: string): Result<never, "badValue"> =>
    bad(`${enodeSyntaxProblem(url)} ${detail}`);
  if (!/^enode:\/\//i.test(url)) return malformed("Missing 'enode' scheme.");
  const [, nodeId, host = "", ports = ""] =
    /^enode:\/\/(?:([^@]*)@)?(\[[^\]]*\]|[^:?/#]*)(.*)$/i.exec(url) ?? [];
  if (nodeId === undefined || nodeId === "") return malformed("Missing node ID.");
  if (!/^[0-9a-fA-F]{128}$/.test(nodeId)) {
    return malformed(
      "Invalid node ID: node ID must have exactly 128 hexadecimal characters and should not include any '0x' hex prefix.",
    );
  }
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) === 0 && !HOST_NAME.test(bare)) return malformed("Invalid ip address.");
  // Besu reads this as a URL: a path and a fragment mean nothing, and a port may begin with zeros.
  const [, tcp, udp] =
    /^(?::0*(\d{1,5}))?(?:\/[^?#\s]*)?(?:\?discport=(\d{1,5}))?(?:#\S*)?$/.exec(ports) ?? [];
  if (tcp === undefined && udp === undefined) return malformed("Invalid port.");
  const tcpPort = Number(tcp ?? 0);
  const udpPort = Number(udp ?? tcp);
  if (tcpPort > MAX_PORT || udpPort > MAX_PORT) return malformed(`Port numbers go up to ${MAX_PORT}.`);
  return ok({
    nodeId: parseHex(nodeId) ?? new Uint8Array(64),
    host: bare,
    tcpPort: tcpPort === 0 ? undefined : tcpPort,
    udpPort: udpPort === 0 ? undefined : udpPort,
  });
}

export function enodeSyntaxProblem(url: string): string {
  return `Invalid enode URL syntax '${url}'. ${FORM}`;
}

export function showEnode({ nodeId, host, tcpPort, udpPort }: Enode): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  const discovery = udpPort === tcpPort ? "" : `?discport=${udpPort ?? 0}`;
  return `enode://${toHex(nodeId).slice(2)}@${shown}:${tcpPort ?? 0}${discovery}`;
}

export function isNamed({ host }: Enode): boolean {
  return isIP(host) === 0;
}

const enodeType: ValueType<Enode> = {
  arity: "single",
  label: "<ENODE>",
  accepts: "enode URLs",
  read: parseEnode,
  show: showEnode,
};

export const enodesType = listType(enodeType, "<ENODE,...>");

/** Reads the text of a static-nodes.json: a JSON array of enode URLs, in which Besu allows comments, or an empty file. */
export function parseStaticNodes(text: string): Result<readonly Enode[], "badValue"> {
  if (text.trim() === "") return ok([]);
  const document = parseJson(text);
  if (!document.ok) return bad(`it is not JSON: ${document.error.message}`);
  if (document.value.kind !== "array") return bad("it must be a JSON array of enode URLs");
  const nodes: Enode[] = [];
  for (const item of document.value.items) {
    if (item.kind !== "string") return bad(`an item is not an enode URL (${placeOf(text, item.at)})`);
    const node = parseEnode(item.text);
    if (!node.ok) return node;
    if (node.value.tcpPort === undefined) {
      return bad(`static nodes must have a listening port, but '${item.text}' has none`);
    }
    nodes.push(node.value);
  }
  return ok(nodes);
}

const MAX_PORT = 65_535;
const HOST_NAME =
  /^(?=.{1,253}$)[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?)*\.?$/;
