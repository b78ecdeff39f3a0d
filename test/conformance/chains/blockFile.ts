import { RLP } from "@ethereumjs/rlp";
import { type Block, decodeBlock } from "../../../src/types/block.ts";
import { readVectorBytes } from "../../vectors.ts";

/** The blocks of a vector with concatenated blocks; throws when one cannot be decoded. */
export function blocksOfFile(...path: readonly string[]): Iterable<Block> {
  return blocksIn(readVectorBytes(...path));
}

/** Concatenated blocks; throws when one cannot be decoded. */
export function* blocksIn(bytes: Uint8Array): Iterable<Block> {
  let rest = bytes;
  for (let index = 0; rest.length > 0; index++) {
    const { remainder } = RLP.decode(rest, true);
    const block = decodeBlock(rest.subarray(0, rest.length - remainder.length));
    if (!block.ok) throw new Error(`block ${index} at ${bytes.length - rest.length}: ${block.error.message}`);
    yield block.value;
    rest = remainder;
  }
}
