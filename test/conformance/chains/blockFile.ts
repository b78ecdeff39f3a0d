import { RLP } from "@ethereumjs/rlp";
import { type Block, decodeBlock } from "../../../src/types/block.ts";
import { readVectorBytes } from "../../vectors.ts";

/** The blocks of a file of concatenated blocks; throws when one cannot be decoded. */
export function* blocksOfFile(...path: readonly string[]): Iterable<Block> {
  let rest = readVectorBytes(...path);
  for (let index = 0; rest.length > 0; index++) {
    const { remainder } = RLP.decode(rest, true);
    const block = decodeBlock(rest.subarray(0, rest.length - remainder.length));
    if (!block.ok) throw new Error(`block ${index} of ${path.join("/")}: ${block.error.message}`);
    yield block.value;
    rest = remainder;
  }
}
