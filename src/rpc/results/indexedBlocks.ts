import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { FoundPlace } from "../../accounts/indexReader.ts";
import type { ChainReader } from "../../chain/chainReader.ts";
import type { StoredBlock } from "../../types/block.ts";

/** A block, and the places in it that the index by address told of. */
interface IndexedBlock {
  readonly block: StoredBlock;
  readonly places: readonly FoundPlace[];
}

/**
 * The blocks of places, which are in the order of the blocks, rising or falling. The event loop does other work between two
 * blocks. Blocks that a rewind has removed since the places were found are left out.
 */
export async function* indexedBlocks(
  chain: Pick<ChainReader, "blockByNumber">,
  places: readonly FoundPlace[],
): AsyncGenerator<IndexedBlock, void> {
  for (let at = 0; at < places.length; ) {
    if (at > 0) await yieldToEventLoop();
    const number = places[at]?.block ?? 0;
    const start = at;
    while (places[at]?.block === number) at++;
    const block = chain.blockByNumber(BigInt(number));
    if (block !== undefined) yield { block, places: places.slice(start, at) };
  }
}
