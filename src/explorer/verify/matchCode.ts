/** Code that a compiler made, before it is deployed. */
export interface CompiledCode {
  /** Hexadecimal digits, in which libraries that are not linked have other characters. */
  readonly object: string;
  /** Where immutable values are written when the contract is created, in bytes. */
  readonly immutables: readonly { readonly start: number; readonly length: number }[];
}

/**
 * How the code of a contract fits what was compiled: "exact" where the hash of the metadata is equal too, which covers names and
 * comments of the sources; "partial" where that hash differs, or there is none. Undefined where it is other code.
 */
export function matchCode(deployed: Uint8Array, compiled: CompiledCode): "exact" | "partial" | undefined {
  if (!/^([0-9a-f]{2})+$/.test(compiled.object)) return undefined;
  const expected = Buffer.from(compiled.object, "hex");
  if (expected.length !== deployed.length) return undefined;
  const actual = Buffer.from(deployed);
  for (const { start, length } of compiled.immutables) actual.fill(0, start, start + length);
  // A library begins with its own address, which the compiler leaves at zero.
  if (expected[0] === PUSH20 && expected.subarray(1, 21).every((byte) => byte === 0)) actual.fill(0, 1, 21);
  for (const { start, length } of compiled.immutables) expected.fill(0, start, start + length);
  const { end, hasHash } = metadataOf(expected);
  if (actual.equals(expected)) return hasHash ? "exact" : "partial";
  const isSameCode =
    end === metadataOf(actual).end && actual.subarray(0, end).equals(expected.subarray(0, end));
  return isSameCode ? "partial" : undefined;
}

const PUSH20 = 0x73;

/**
 * Where the metadata of a code begin, and whether they have a hash; at its end without any. The last two bytes tell their length.
 * They are read entirely: anybody may deploy code that calls other code its metadata, to be taken for what it is not.
 */
function metadataOf(code: Buffer): { readonly end: number; readonly hasHash: boolean } {
  const start = code.length < 2 ? -1 : code.length - 2 - code.readUInt16BE(code.length - 2);
  const text = start < 0 ? "" : code.toString("latin1", start, code.length - 2);
  return METADATA.test(text)
    ? { end: start, hasHash: HASH.test(text) }
    : { end: code.length, hasHash: false };
}

/** The metadata that releases of solc append, a map in CBOR: a hash for IPFS or Swarm, a version, and a mark of experiments. */
const METADATA = /^[\xa1-\xa4](?:dipfsX".{34}|ebzzr[01]X .{32}|dsolcC.{3}|lexperimental\xf5)+$/s;
const HASH = /dipfsX"|ebzzr[01]X /;

/** The release of solc that the metadata of a code tell, such as 0.8.24; undefined where they tell none. */
export function releaseOf(code: Uint8Array): string | undefined {
  const text = Buffer.from(code).toString("latin1", metadataOf(Buffer.from(code)).end);
  const [, bytes] = /dsolcC(.{3})/s.exec(text) ?? [];
  return bytes === undefined ? undefined : Buffer.from(bytes, "latin1").join(".");
}
