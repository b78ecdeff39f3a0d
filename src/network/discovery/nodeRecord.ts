import { encodeForkId, type ForkId, forkIdFromItems } from "../../chainspec/forkId.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { concatBytes, equalBytes } from "../../primitives/hex.ts";
import { bigintToBytes, bytesToBigint } from "../../primitives/quantity.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { encodeRlp, encodeRlpList, encodeRlpString, type RlpItem, readRlp } from "../../primitives/rlp.ts";
import { curve } from "../../primitives/secp256k1.ts";
import { bytesOf, type Endpoint, ipBytes, ipText, portOf } from "./endpoint.ts";

/** A node's signed statement about itself (EIP-778, identity scheme v4; p2p.md#local-node-record). */
export interface NodeRecord {
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
  /** Grows with each change. */
  readonly sequence: bigint;
  /** Undefined when the record names no address or no UDP port. */
  readonly endpoint: Endpoint | undefined;
  /** The entry `eth`; undefined when absent, or not a fork id. */
  readonly forkId: ForkId | undefined;
  /** RLP of the whole record. */
  readonly encoded: Uint8Array;
}

type NodeRecordErrorCode = "malformedRecord" | "badRecordSignature";

/** Largest record (EIP-778). */
export const MAX_RECORD_BYTES = 300;

interface OwnRecord {
  readonly sequence: bigint;
  readonly endpoint: Endpoint;
  readonly forkId: ForkId;
}

/** Signs this node's record. Without a TCP port the entry `tcp` is left out. */
export function signNodeRecord(own: OwnRecord, privateKey: Uint8Array): NodeRecord {
  const content = [
    encodeRlpString(bigintToBytes(own.sequence)),
    ...entriesOf(own, curve.publicKey(privateKey)),
  ];
  const { rs } = curve.sign(keccak256(encodeRlpList(content)), privateKey);
  return {
    nodeId: curve.publicKey(privateKey),
    ...own,
    encoded: encodeRlpList([encodeRlpString(rs), ...content]),
  };
}

/** Keys in ascending order, as the standard requires, each followed by its value. */
function entriesOf({ endpoint, forkId }: OwnRecord, publicKey: Uint8Array): readonly Uint8Array[] {
  const ip = ipBytes(endpoint.ip);
  const six = ip.length === 16 ? "6" : "";
  const entries: Record<string, Uint8Array> = {
    eth: encodeRlpList([encodeForkId(forkId)]),
    id: encodeRlpString(Buffer.from("v4")),
    [`ip${six}`]: encodeRlpString(ip),
    secp256k1: encodeRlpString(compressed(publicKey)),
    ...(endpoint.tcpPort === 0 ? {} : { [`tcp${six}`]: encodePort(endpoint.tcpPort) }),
    [`udp${six}`]: encodePort(endpoint.udpPort),
  };
  return Object.keys(entries)
    .sort()
    .flatMap((key) => [encodeRlpString(Buffer.from(key)), entries[key] ?? new Uint8Array()]);
}

function encodePort(port: number): Uint8Array {
  return encodeRlpString(bigintToBytes(BigInt(port)));
}

/** Decodes a record and verifies its signature. */
export function decodeNodeRecord(encoded: Uint8Array): Result<NodeRecord, NodeRecordErrorCode> {
  if (encoded.length > MAX_RECORD_BYTES)
    return fail("peer", "malformedRecord", `a record has at most ${MAX_RECORD_BYTES} bytes`);
  try {
    const record = readRlp(encoded, RECORD_DEPTH);
    if (record instanceof Uint8Array) return fail("peer", "malformedRecord", "a record is a list");
    return recordFromItems(record, encoded);
  } catch (error) {
    if (error instanceof RangeError) return fail("peer", "malformedRecord", error.message);
    throw error;
  }
}

/**
 * Nesting of [signature, sequence, key, value, ...], whose values nest as deep as those of Besu's and go-ethereum's records.
 */
const RECORD_DEPTH = 5;

function recordFromItems(
  [signatureItem, sequenceItem, ...rest]: readonly RlpItem[],
  encoded: Uint8Array,
): Result<NodeRecord, NodeRecordErrorCode> {
  const signature = bytesOf(signatureItem);
  const sequence = bytesOf(sequenceItem);
  const entries = entriesFrom(rest);
  if (entries === undefined)
    return fail("peer", "malformedRecord", "the keys of a record are not in ascending order");
  if (Buffer.from(bytesAt(entries, "id") ?? []).toString() !== "v4")
    return fail("peer", "malformedRecord", "only records of the identity scheme v4 are known");
  const key = bytesAt(entries, "secp256k1");
  if (signature.length !== 64 || sequence.length > 8 || key === undefined)
    return fail(
      "peer",
      "malformedRecord",
      "a record has a signature of 64 bytes, a sequence of 64 bits and a public key",
    );
  const digest = keccak256(encodeRlpList([sequence, ...rest].map((item) => encodeRlp(item))));
  const nodeId = signerOf(digest, signature, key);
  if (nodeId === undefined) return fail("peer", "badRecordSignature", "a record is not signed by its key");
  return ok({
    nodeId,
    sequence: bytesToBigint(sequence),
    endpoint: endpointOf(entries, ""),
    forkId: forkIdOf(entries),
    encoded,
  });
}

/** The entries by key; undefined when a key is repeated or out of order. */
function entriesFrom(items: readonly RlpItem[]): ReadonlyMap<string, RlpItem> | undefined {
  const entries = new Map<string, RlpItem>();
  let last = "";
  for (let at = 0; at < items.length; at += 2) {
    const key = Buffer.from(bytesOf(items[at])).toString("latin1");
    const value = items[at + 1];
    if (value === undefined || (at > 0 && key <= last)) return undefined;
    entries.set(key, value);
    last = key;
  }
  return entries;
}

function bytesAt(entries: ReadonlyMap<string, RlpItem>, key: string): Uint8Array | undefined {
  const value = entries.get(key);
  return value instanceof Uint8Array ? value : undefined;
}

/** The public key that made the signature, if it is the record's: each signature fits two keys. */
export function signerOf(digest: Uint8Array, rs: Uint8Array, key: Uint8Array): Uint8Array | undefined {
  for (const recovery of [0, 1]) {
    const candidate = curve.recover(digest, rs, recovery);
    if (candidate !== undefined && equalBytes(compressed(candidate), key)) return candidate;
  }
  return undefined;
}

function endpointOf(entries: ReadonlyMap<string, RlpItem>, six: "" | "6"): Endpoint | undefined {
  const ip = bytesAt(entries, `ip${six}`);
  const udpPort = bytesAt(entries, `udp${six}`) ?? bytesAt(entries, "udp");
  const tcpPort = bytesAt(entries, `tcp${six}`) ?? bytesAt(entries, "tcp");
  if (ip?.length === (six === "" ? 4 : 16) && udpPort !== undefined)
    return { ip: ipText(ip), udpPort: portOf(udpPort), tcpPort: tcpPort === undefined ? 0 : portOf(tcpPort) };
  return six === "" ? endpointOf(entries, "6") : undefined;
}

/** The first member of the entry `eth`; Besu and go-ethereum ignore what follows. */
function forkIdOf(entries: ReadonlyMap<string, RlpItem>): ForkId | undefined {
  const value = entries.get("eth");
  if (value === undefined || value instanceof Uint8Array) return undefined;
  const forkId = forkIdFromItems(value[0]);
  return forkId.ok ? forkId.value : undefined;
}

/** The compressed key, 33 bytes: the parity of y, then x. */
function compressed(publicKey: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0x02 + ((publicKey[63] ?? 0) & 1)), publicKey.subarray(0, 32));
}

/** Reads the text form ("enr:" and the record in base64url without padding), and verifies the record as decodeNodeRecord does. */
export function parseNodeRecord(text: string): Result<NodeRecord, NodeRecordErrorCode> {
  if (!/^enr:[A-Za-z0-9_-]+$/.test(text))
    return fail("peer", "malformedRecord", "a record's text begins with enr: and is base64url");
  return decodeNodeRecord(Buffer.from(text.slice(4), "base64url"));
}
