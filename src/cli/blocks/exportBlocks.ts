import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { Logger } from "../../observability/logger.ts";
import { expectDefined } from "../../primitives/assert.ts";
import type { BlockStore } from "../../storage/blocks/blockStore.ts";
import { encodeBlock } from "../../types/block.ts";
import { Progress } from "./progress.ts";

interface ExportRequest {
  readonly path: string;
  readonly startBlock: bigint;
  /** End of the range, exclusive. */
  readonly endBlock: bigint;
  /** True to append to the file instead of replacing it. */
  readonly isAppended: boolean;
  readonly isTerminal: boolean;
  isStopped(): boolean;
}

/** Writes blocks as concatenated RLP, syncs the file and returns their number. Throws errors of the file system. */
export async function exportBlocks(
  { path, startBlock, endBlock, isAppended, isTerminal, isStopped }: ExportRequest,
  blocks: Pick<BlockStore, "block">,
  logger: Logger,
): Promise<number> {
  const total = Number(endBlock - startBlock);
  const progress = new Progress({ message: "exporting blocks", total, isTerminal }, logger);
  const file = createWriteStream(path, { flags: isAppended ? "a" : "w", flush: true });
  // Awaited at the end; until then a failure shows in the write loop.
  const written = finished(file);
  written.catch(() => undefined);
  for (let number = startBlock; number < endBlock && !isStopped(); number++) {
    const block = expectDefined(blocks.block(number), `block ${number}`);
    if (!file.write(encodeBlock(block))) await Promise.race([once(file, "drain"), written]);
    progress.advance({
      number,
      transactions: block.transactions.length,
      from: Number(number - startBlock),
      until: Number(number - startBlock) + 1,
    });
  }
  file.end();
  await written;
  logger.info({ ...progress.summary(), file: path }, isStopped() ? "export stopped" : "export finished");
  return progress.summary().blocks;
}
