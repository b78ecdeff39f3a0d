import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { Logger } from "../../observability/logger.ts";
import { Progress } from "../../observability/progress.ts";
import { expectDefined } from "../../primitives/assert.ts";
import type { BlockStore } from "../../storage/blocks/blockStore.ts";
import { encodeBlock } from "../../types/block.ts";

interface ExportRequest {
  readonly path: string;
  readonly startBlock: bigint;
  /** End of the range, exclusive. */
  readonly endBlock: bigint;
  /** True to append to the file instead of replacing it. */
  readonly isAppended: boolean;
  isStopped(): boolean;
}

/** Writes blocks as concatenated RLP, syncs the file and returns their number. Throws errors of the file system. */
export async function exportBlocks(
  { path, startBlock, endBlock, isAppended, isStopped }: ExportRequest,
  blocks: Pick<BlockStore, "block">,
  logger: Logger,
): Promise<number> {
  const total = Number(endBlock - startBlock);
  const progress = new Progress({ message: "exporting blocks", total }, logger);
  const file = createWriteStream(path, { flags: isAppended ? "a" : "w", flush: true });
  // Awaited at the end; until then a failure shows in the write loop.
  const written = finished(file);
  written.catch(() => undefined);
  try {
    for (let number = startBlock; number < endBlock && !isStopped(); number++) {
      const block = expectDefined(blocks.block(number), `block ${number}`);
      if (!file.write(encodeBlock(block))) await Promise.race([once(file, "drain"), written]);
      progress.advance({
        position: Number(number - startBlock) + 1,
        counts: { blocks: 1, transactions: block.transactions.length },
        fields: { number },
      });
    }
    file.end();
    await written;
  } finally {
    progress.end();
  }
  const [count, transactions] = [progress.count("blocks"), progress.count("transactions")];
  const { seconds } = progress;
  logger.info(
    { blocks: count, transactions, seconds, file: path },
    isStopped() ? "export stopped" : "export finished",
  );
  return count;
}
