import { type Block, decodeBlock } from "../../../src/types/block.ts";
import { rlpItems } from "../../builders/rlpItems.ts";
import { readVectorBytes } from "../../vectors.ts";

/** The blocks of a vector with concatenated blocks; throws when one cannot be decoded. */
export function blocksOfFile(...path: readonly string[]): Iterable<Block> {
  return blocksIn(readVectorBytes(...path));
}

/** Concatenated blocks; throws when one cannot be decoded. */
export function* blocksIn(bytes: Uint8Array): Iterable<Block> {
  let index = 0;
  for (const item of rlpItems(bytes)) {
    const block = decodeBlock(item);
    if (!block.ok) throw new Error(`block ${index} of ${item.length} bytes: ${block.error.message}`);
    yield block.value;
    index++;
  }
}
