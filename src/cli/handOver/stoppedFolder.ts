import { existsSync } from "node:fs";
import { deriveGenesisBlock } from "../../chain/genesisBlock.ts";
import type { NodeKeySettings, Settings } from "../../config/settings.ts";
import { type DataDirectory, openDataDirectory } from "../../node/dataFolder/dataDirectory.ts";
import { withGenesisOfChain } from "../../node/dataFolder/genesisOfChain.ts";
import { openKeystore } from "../../node/keys/keystoreFile.ts";
import { type NodeKey, openNodeKey } from "../../node/keys/nodeKey.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../storage/blocks/blockStore.ts";
import { openChainDatabase } from "../../storage/chainDatabase.ts";
import type { NamedHeader } from "../../types/block.ts";

/** The folder of a stopped node, held so that no node can start in it. */
export interface StoppedFolder extends DataDirectory {
  /** The head; undefined in a folder without a chain. */
  readonly head: NamedHeader | undefined;
  readonly genesisHash: Uint8Array;
}

/** Runs `work` while the folder is locked. Throws FolderInUse while a node runs in it, and as openChainDatabase does. */
export async function withStoppedFolder<T>(
  settings: Settings,
  work: (folder: StoppedFolder) => Promise<T>,
): Promise<Result<T, "unusableDataPath" | "diskFailure" | "otherChain">> {
  const { dataPath } = settings;
  const directory = openDataDirectory(dataPath);
  if (!directory.ok) return directory;
  const { chain: path, headFile } = directory.value;
  const { database, close } = await openChainDatabase({ path, headFile });
  try {
    const blocks = new BlockStore(BLOCK_STORE_LIMITS, { database });
    const { chainSpec, genesisFile } = withGenesisOfChain(settings, blocks);
    const genesisHash = deriveGenesisBlock(chainSpec).hash;
    const stored = blocks.header(0n);
    if (stored !== undefined && !equalBytes(stored.hash, genesisHash))
      return fail(
        "caller",
        "otherChain",
        `The genesis file ${genesisFile} does not belong to the chain stored in ${dataPath}.`,
      );
    return ok(await work({ ...directory.value, head: blocks.head(), genesisHash }));
  } finally {
    await close();
  }
}

/** The existing key of the node; an error when there is none, because none is created. */
export async function openExistingKey({ keystore, path }: NodeKeySettings): Promise<Result<NodeKey>> {
  if (keystore !== undefined) return await openKeystore(keystore);
  if (existsSync(path)) return openNodeKey({ path });
  return fail("caller", "missingNodeKey", `There is no node key in ${path}: this node was not a validator.`);
}
