/** Code that a compiler made, before it is deployed. */
export interface CompiledCode {
  /** Hexadecimal digits, in which libraries that are not linked have other characters. */
  readonly object: string;
  /** Where immutable values are written when the contract is created, in bytes. */
  readonly immutables: readonly { readonly start: number; readonly length: number }[];
}

/**
 * How the code of a contract fits what was compiled: "exact", or "partial" where only the hash of the metadata differs, which
 * covers names and comments of the sources. Undefined where it is other code.
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
  if (actual.equals(expected)) return "exact";
  const end = endOfCode(expected);
  const hasSameEnd = end !== undefined && end === endOfCode(actual);
  return hasSameEnd && actual.subarray(0, end).equals(expected.subarray(0, end)) ? "partial" : undefined;
}

const PUSH20 = 0x73;

/** Where the metadata begin, whose length the last two bytes tell; undefined without any. */
function endOfCode(code: Buffer): number | undefined {
  if (code.length < 2) return undefined;
  const end = code.length - 2 - code.readUInt16BE(code.length - 2);
  // Metadata are a map in CBOR.
  return end >= 0 && (code[end] ?? 0) >> 5 === 5 ? end : undefined;
}
