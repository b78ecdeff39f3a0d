import { type Hash, keccak256 } from "../../primitives/hash.ts";
import { concatBytes, equalBytes } from "../../primitives/hex.ts";
import { bigintToBytes, bytesToBigint } from "../../primitives/quantity.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import {
  encodeRlpIndex,
  encodeRlpList,
  encodeRlpString,
  type RlpItem,
  readLeadingRlpList,
  readRlp,
} from "../../primitives/rlp.ts";
import { curve } from "../../primitives/secp256k1.ts";
import { bytesOf, type Endpoint, encodeEndpoint, endpointFromItems, endpointMembers } from "./endpoint.ts";
import { decodeNodeRecord, type NodeRecord } from "./nodeRecord.ts";

/** A node with its endpoint, as other nodes name it. */
export interface NodeContact extends Endpoint {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
}

/** The packets of discovery v4 (p2p.md#packets). Expirations are in seconds since 1970. */
export type Packet =
  | {
      readonly kind: "ping";
      /** The endpoint that the sender believes to be its own; undefined when it gives none. */
      readonly from: Endpoint | undefined;
      readonly to: Endpoint;
      readonly expiration: bigint;
      readonly recordSequence: bigint | undefined;
    }
  | {
      readonly kind: "pong";
      readonly to: Endpoint;
      readonly pingHash: Uint8Array;
      readonly expiration: bigint;
      readonly recordSequence: bigint | undefined;
    }
  | { readonly kind: "findNode"; readonly target: Uint8Array; readonly expiration: bigint }
  | { readonly kind: "neighbors"; readonly nodes: readonly NodeContact[]; readonly expiration: bigint }
  | { readonly kind: "recordRequest"; readonly expiration: bigint }
  | { readonly kind: "recordResponse"; readonly requestHash: Uint8Array; readonly record: NodeRecord };

export type PacketKind = Packet["kind"];

export interface ReceivedPacket {
  readonly packet: Packet;
  readonly hash: Hash;
  /** The signer, 64 bytes. */
  readonly nodeId: Uint8Array;
}

type PacketErrorCode = "malformedPacket" | "badPacketHash" | "badPacketSignature";

/** The largest datagram of the protocol, so that none is split on its way. */
export const MAX_PACKET_BYTES = 1280;
/** Besu accepts datagrams up to this size (p2p.md#packets). */
const MAX_ACCEPTED_BYTES = 1600;
/** Most nodes of a neighbors packet: as many as fit with IPv6 addresses, like go-ethereum; Besu sends 13. */
export const MAX_NEIGHBORS = 12;

const HASH_BYTES = 32;
const SIGNATURE_BYTES = 65;
const HEAD_BYTES = HASH_BYTES + SIGNATURE_BYTES + 1;
const NODE_ID_BYTES = 64;

const KINDS = ["ping", "pong", "findNode", "neighbors", "recordRequest", "recordResponse"] as const;
/** Protocol version in a ping, as Besu writes it; receivers ignore it. */
const PROTOCOL_VERSION = 5;

/** Encodes a packet as hash, signature, type and data; also returns the hash, which the response names. */
export function encodePacket(
  packet: Packet,
  privateKey: Uint8Array,
): { readonly bytes: Uint8Array; readonly hash: Hash } {
  const signed = concatBytes(Uint8Array.of(KINDS.indexOf(packet.kind) + 1), encodeData(packet));
  const { rs, recovery } = curve.sign(keccak256(signed), privateKey);
  const hashed = concatBytes(rs, Uint8Array.of(recovery), signed);
  const hash = keccak256(hashed);
  return { bytes: concatBytes(hash, hashed), hash };
}

function encodeData(packet: Packet): Uint8Array {
  switch (packet.kind) {
    case "ping":
      return encodeRlpList([
        encodeRlpIndex(PROTOCOL_VERSION),
        packet.from === undefined ? encodeRlpList([]) : encodeEndpoint(packet.from),
        encodeEndpoint(packet.to),
        scalar(packet.expiration),
        ...optional(packet.recordSequence),
      ]);
    case "pong":
      return encodeRlpList([
        encodeEndpoint(packet.to),
        encodeRlpString(packet.pingHash),
        scalar(packet.expiration),
        ...optional(packet.recordSequence),
      ]);
    case "findNode":
      return encodeRlpList([encodeRlpString(packet.target), scalar(packet.expiration)]);
    case "neighbors":
      return encodeRlpList([encodeRlpList(packet.nodes.map(encodeContact)), scalar(packet.expiration)]);
    case "recordRequest":
      return encodeRlpList([scalar(packet.expiration)]);
    case "recordResponse":
      return encodeRlpList([encodeRlpString(packet.requestHash), packet.record.encoded]);
  }
}

function encodeContact(node: NodeContact): Uint8Array {
  return encodeRlpList([...endpointMembers(node), encodeRlpString(node.nodeId)]);
}

function scalar(value: bigint): Uint8Array {
  return encodeRlpString(bigintToBytes(value));
}

function optional(value: bigint | undefined): readonly Uint8Array[] {
  return value === undefined ? [] : [scalar(value)];
}

/**
 * Decodes a datagram, and recovers who signed it (45 µs). Further items of a list and bytes after the data are ignored
 * (EIP-8).
 */
export function decodePacket(bytes: Uint8Array): Result<ReceivedPacket, PacketErrorCode> {
  if (bytes.length <= HEAD_BYTES || bytes.length > MAX_ACCEPTED_BYTES)
    return malformed("it has a wrong size");
  const kind = KINDS[(bytes[HEAD_BYTES - 1] ?? 0) - 1];
  if (kind === undefined) return malformed("its type is unknown");
  const hash = keccak256(bytes.subarray(HASH_BYTES));
  if (!equalBytes(hash, bytes.subarray(0, HASH_BYTES)))
    return fail("peer", "badPacketHash", "its hash is wrong");
  const nodeId = signerOf(bytes);
  if (nodeId === undefined) return fail("peer", "badPacketSignature", "its signature fits no key");
  try {
    const packet = packetFromItems(kind, bytes.subarray(HEAD_BYTES));
    return packet.ok ? ok({ packet: packet.value, hash, nodeId }) : packet;
  } catch (error) {
    if (error instanceof RangeError) return malformed(error.message);
    throw error;
  }
}

function signerOf(bytes: Uint8Array): Uint8Array | undefined {
  const recovery = bytes[HASH_BYTES + SIGNATURE_BYTES - 1] ?? 0;
  if (recovery > 1) return undefined;
  const rs = bytes.subarray(HASH_BYTES, HASH_BYTES + SIGNATURE_BYTES - 1);
  return curve.recover(keccak256(bytes.subarray(HASH_BYTES + SIGNATURE_BYTES)), rs, recovery);
}

/** Reads a packet; throws RangeError for items that are missing or malformed. */
function packetFromItems(kind: (typeof KINDS)[number], data: Uint8Array): Result<Packet, PacketErrorCode> {
  const spans = readLeadingRlpList(data);
  const item = (at: number): RlpItem | undefined => {
    const span = spans[at];
    return span === undefined ? undefined : readRlp(data.subarray(span.start, span.until), ITEM_DEPTH);
  };
  switch (kind) {
    case "ping":
      return ok({
        kind,
        from: endpointOrNone(item(1)),
        to: endpointFromItems(item(2)),
        expiration: numberOf(item(3)),
        recordSequence: sequenceOf(item(4)),
      });
    case "pong":
      return ok({
        kind,
        to: endpointFromItems(item(0)),
        pingHash: fixed(item(1), HASH_BYTES),
        expiration: numberOf(item(2)),
        recordSequence: sequenceOf(item(3)),
      });
    case "findNode":
      return ok({ kind, target: fixed(item(0), NODE_ID_BYTES), expiration: numberOf(item(1)) });
    case "neighbors":
      return ok({ kind, nodes: contactsFrom(item(0)), expiration: numberOf(item(1)) });
    case "recordRequest":
      return ok({ kind, expiration: numberOf(item(0)) });
    case "recordResponse":
      return recordResponse(fixed(item(0), HASH_BYTES), data, spans[1]);
  }
}

/** Bound on nesting: items of later versions may nest, and a packet has at most 1600 bytes. */
const ITEM_DEPTH = 16;

function recordResponse(
  requestHash: Uint8Array,
  data: Uint8Array,
  span: { readonly start: number; readonly until: number } | undefined,
): Result<Packet, PacketErrorCode> {
  if (span === undefined) return malformed("it holds no record");
  const record = decodeNodeRecord(data.subarray(span.start, span.until));
  if (!record.ok) return malformed(record.error.message);
  return ok({ kind: "recordResponse", requestHash, record: record.value });
}

/** The endpoint of a ping, which may leave out where it comes from. */
function endpointOrNone(item: RlpItem | undefined): Endpoint | undefined {
  if (item instanceof Uint8Array || item === undefined || item.length === 0) return undefined;
  return endpointFromItems(item);
}

/** Reads the named nodes; leaves out those whose entries are malformed. */
function contactsFrom(item: RlpItem | undefined): readonly NodeContact[] {
  if (item === undefined || item instanceof Uint8Array) throw new RangeError("neighbors are a list");
  return item.flatMap((entry) => contactFrom(entry) ?? []);
}

function contactFrom(entry: RlpItem): NodeContact | undefined {
  try {
    const nodeId = entry instanceof Uint8Array ? undefined : entry[3];
    return { ...endpointFromItems(entry), nodeId: fixed(nodeId, NODE_ID_BYTES) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function fixed(item: RlpItem | undefined, length: number): Uint8Array {
  const bytes = bytesOf(item);
  if (bytes.length !== length) throw new RangeError(`${length} bytes were expected`);
  return bytes;
}

function numberOf(item: RlpItem | undefined): bigint {
  const bytes = bytesOf(item);
  if (bytes.length > 8) throw new RangeError("a number of more than 64 bits");
  return bytesToBigint(bytes);
}

/** The sequence of a record; undefined when later versions put something else there. */
function sequenceOf(item: RlpItem | undefined): bigint | undefined {
  return item instanceof Uint8Array && item.length <= 8 ? bytesToBigint(item) : undefined;
}

function malformed(message: string): Result<never, PacketErrorCode> {
  return fail("peer", "malformedPacket", message);
}
