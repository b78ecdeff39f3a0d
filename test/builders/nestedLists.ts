import { rlpPrefix } from "../../src/primitives/rlp.ts";

/** RLP of a list in a list in a list, and so on: at least so many bytes. Each list costs one to five of them. */
export function nestedLists(bytes: number): Uint8Array {
  const prefixes: Uint8Array[] = [];
  for (let length = 0; length < bytes; ) {
    const prefix = rlpPrefix(length, 0xc0);
    prefixes.push(prefix);
    length += prefix.length;
  }
  return Uint8Array.from(Buffer.concat(prefixes.reverse()));
}
