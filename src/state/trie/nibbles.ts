/** Nibble `depth` of a key. A path in a trie is a key and a depth: the key's first `depth` nibbles. */
export function nibbleAt(key: Uint8Array, depth: number): number {
  const byte = key[depth >> 1] ?? 0;
  return (depth & 1) === 1 ? byte & 15 : byte >> 4;
}

/** Depth of the first nibble from `depth` on in which two keys of one length differ; all nibbles when equal. */
export function divergenceDepth(a: Uint8Array, b: Uint8Array, depth: number): number {
  const end = a.length * 2;
  let at = depth;
  while (at < end && nibbleAt(a, at) === nibbleAt(b, at)) at++;
  return at;
}

/** A copy of `key` with another nibble at `depth`. */
export function withNibble(key: Uint8Array, depth: number, nibble: number): Uint8Array {
  const copy = Uint8Array.from(key);
  setNibble(copy, depth, nibble);
  return copy;
}

export function setNibble(key: Uint8Array, depth: number, nibble: number): void {
  const byte = key[depth >> 1] ?? 0;
  key[depth >> 1] = (depth & 1) === 1 ? (byte & 0xf0) | nibble : (byte & 0x0f) | (nibble << 4);
}

/** The first `depth` nibbles of a key as hex digits, for messages. */
export function pathText(key: Uint8Array, depth: number): string {
  return Buffer.from(key).toString("hex").slice(0, depth);
}
