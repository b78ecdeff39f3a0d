import { concatBytes } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import {
  encodeRlpIndex,
  encodeRlpList,
  encodeRlpString,
  type RlpSpan,
  readRlpList,
} from "../../primitives/rlp.ts";
import { MAX_CAPABILITIES, MAX_CLIENT_ID_LENGTH } from "../limits.ts";

/** A protocol and version, such as eth/68. */
export interface Capability {
  readonly name: string;
  readonly version: number;
}

/** The first message of each end (p2p.md#hello-and-capabilities). */
export interface Hello {
  readonly p2pVersion: number;
  readonly clientId: string;
  /** Capabilities in the order sent. */
  readonly capabilities: readonly Capability[];
  /** 0 when the node does not listen. */
  readonly listenPort: number;
  /** 64 bytes. */
  readonly nodeId: Uint8Array;
}

const P2P_VERSION = 5;

export function ownHello(hello: Omit<Hello, "p2pVersion">): Hello {
  return { p2pVersion: P2P_VERSION, ...hello };
}

export function encodeHello(hello: Hello): Uint8Array {
  return encodeRlpList([
    encodeRlpIndex(hello.p2pVersion),
    encodeRlpString(Buffer.from(hello.clientId)),
    encodeRlpList(
      hello.capabilities.map(({ name, version }) =>
        encodeRlpList([encodeRlpString(Buffer.from(name)), encodeRlpIndex(version)]),
      ),
    ),
    encodeRlpIndex(hello.listenPort),
    encodeRlpString(hello.nodeId),
  ]);
}

/**
 * Decodes a Hello. Ignores items beyond the five; fails when one of the five is missing or malformed, or a version takes
 * more than one byte. The untrusted client name is made safe for logs.
 */
export function decodeHello(payload: Uint8Array): Result<Hello, "badHello"> {
  try {
    const [p2pVersion, clientId, capabilities, listenPort, nodeId] = readRlpList(payload);
    const id = text(payload, nodeId);
    if (id.length !== 64) return fail("peer", "badHello", "its node id does not have 64 bytes");
    const listed = list(payload, capabilities);
    if (listed.length > MAX_CAPABILITIES)
      return fail("peer", "badHello", `it lists ${listed.length} capabilities`);
    return ok({
      p2pVersion: number(payload, p2pVersion, 1),
      clientId: printable(text(payload, clientId)),
      capabilities: listed.map((entry) => {
        const [name, version] = readRlpList(entry);
        return {
          name: Buffer.from(text(entry, name)).toString("latin1"),
          version: number(entry, version, 1),
        };
      }),
      listenPort: number(payload, listenPort, 2),
      nodeId: concatBytes(id),
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fail("peer", "badHello", error.message);
  }
}

function text(bytes: Uint8Array, span: RlpSpan | undefined): Uint8Array {
  if (span === undefined || span.isList) throw new RangeError("a byte string is missing");
  return bytes.subarray(span.from, span.until);
}

function number(bytes: Uint8Array, span: RlpSpan | undefined, widthBytes: number): number {
  const digits = text(bytes, span);
  if (digits.length > widthBytes || digits[0] === 0)
    throw new RangeError("a number is too large or has leading zeros");
  return digits.reduce((value, digit) => value * 256 + digit, 0);
}

/** The encodings of a list's members. */
function list(bytes: Uint8Array, span: RlpSpan | undefined): Uint8Array[] {
  if (!span?.isList) throw new RangeError("a list is missing");
  const whole = bytes.subarray(span.start, span.until);
  return readRlpList(whole).map(({ start, until }) => whole.subarray(start, until));
}

/** Truncates the name, and replaces the characters that move a terminal's cursor. */
function printable(bytes: Uint8Array): string {
  const name = Buffer.from(bytes.subarray(0, MAX_CLIENT_ID_LENGTH)).toString("utf8");
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
}
