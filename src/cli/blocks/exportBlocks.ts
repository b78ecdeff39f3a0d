import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { Logger } from "../../observability/logger.ts";
import { expectDefined } from "../../primitives/assert.ts";
import type { BlockStore } from "../../storage/blocks/blockStore.ts";
import { encodeBlock } from "../../types/block.ts";
import { createProgress } from "./progress.ts";

export interface ExportOrder {
  readonly path: string;
  readonly startBlock: bigint;
  /** The first that is not written. */
  readonly endBlock: bigint;
  /** Behind what the file holds already. */
  readonly isAppended: boolean;
  readonly isTerminal: boolean;
  isStopped(): boolean;
}

/** Writes blocks as concatenated RLP, as they come, and syncs the file; answers how many. Throws what the file system throws. */
export async function exportBlocks(
  { path, startBlock, endBlock, isAppended, isTerminal, isStopped }: ExportOrder,
  blocks: Pick<BlockStore, "block">,
  logger: Logger,
): Promise<number> {
  const total = Number(endBlock - startBlock);
  const progress = createProgress({ message: "exporting blocks", total, isTerminal }, logger);
  const file = createWriteStream(path, { flags: isAppended ? "a" : "w", flush: true });
  // Waited for at the end; until then a failure is heard by whoever writes.
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
