import { keccak256 } from "../../primitives/hash.ts";
import { concatBytes, toDigits } from "../../primitives/hex.ts";

/** A node as its enode URL names it. */
export interface NodeEndpoint {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  /** 4 or 16 bytes. */
  readonly ip: Uint8Array;
  /** The IP address as text; an IPv6 address is short and without brackets. */
  readonly host: string;
  readonly tcpPort: number;
}

/** The node that opens a connection, and the one that accepts it. */
export interface Direction {
  readonly source: NodeEndpoint;
  readonly destination: NodeEndpoint;
}

/** The call of version 1, byte for byte as Besu 24.7 makes it: both nodes, each by the halves of its id, IP and port. */
export function connectionPayload({ source, destination }: Direction): Uint8Array {
  return concatBytes(CONNECTION_SELECTOR, wordsOf(source), wordsOf(destination));
}

/** The call of version 2, about one node: its id as 128 digits, its host, and its port. */
export function nodePayload({ nodeId, tcpPort }: NodeEndpoint, host: string): Uint8Array {
  const id = textTail(toDigits(nodeId));
  const heads = [HEAD_BYTES, HEAD_BYTES + id.length, tcpPort].map(word);
  return concatBytes(NODE_SELECTOR, ...heads, id, textTail(host));
}

/** The host of an enode URL: brackets are around an IPv6 address. */
export function urlHost({ host }: NodeEndpoint): string {
  return host.includes(":") ? `[${host}]` : host;
}

const CONNECTION_SELECTOR = selectorOf(
  "connectionAllowed(bytes32,bytes32,bytes16,uint16,bytes32,bytes32,bytes16,uint16)",
);
const NODE_SELECTOR = selectorOf("connectionAllowed(string,string,uint16)");

function selectorOf(signature: string): Uint8Array {
  return keccak256(new TextEncoder().encode(signature)).subarray(0, 4);
}

const WORD = 32;
/** Bytes of the three words before the texts. */
const HEAD_BYTES = 96;

function wordsOf({ nodeId, ip, tcpPort }: NodeEndpoint): Uint8Array {
  const address = new Uint8Array(WORD);
  if (ip.length === 4) {
    address.fill(0xff, 10, 12);
    address.set(ip, 12);
  } else address.set(ip);
  return concatBytes(nodeId, address, word(tcpPort));
}

function word(value: number): Uint8Array {
  const bytes = new Uint8Array(WORD);
  new DataView(bytes.buffer).setUint32(WORD - 4, value);
  return bytes;
}

/** Length and bytes of a text, filled up to whole words. */
function textTail(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil(bytes.length / WORD) * WORD);
  padded.set(bytes);
  return concatBytes(word(bytes.length), padded);
}
