import { BLOCK_STORE_LIMITS, BlockStore } from "../../storage/blocks/blockStore.ts";
import { openChainDatabase } from "../../storage/chainDatabase.ts";
import type { Database } from "../../storage/database.ts";
import type { NamedHeader } from "../../types/block.ts";
import { findDatabase } from "../databasePaths.ts";

/** The blocks of a stopped node. */
interface StoredBlocks {
  readonly blocks: BlockStore;
  readonly database: Database;
  readonly head: NamedHeader;
  close(): Promise<void>;
}

/**
 * Opens the blocks; undefined when there is no block or no database, which is not created. Throws as openChainDatabase does.
 */
export async function openStoredBlocks(dataPath: string): Promise<StoredBlocks | undefined> {
  const paths = findDatabase(dataPath);
  if (!paths.ok) return undefined;
  const { chain: path, headFile } = paths.value;
  const stored = await openChainDatabase({ path, headFile });
  try {
    const blocks = new BlockStore(BLOCK_STORE_LIMITS, { database: stored.database });
    const head = blocks.head();
    if (head !== undefined) return { blocks, database: stored.database, head, close: () => stored.close() };
    await stored.close();
    return undefined;
  } catch (error) {
    await stored.close();
    throw error;
  }
}
