import { judgeLostEnd, readVotesOf } from "../consensus/lostEnd.ts";
import { ok, type Result } from "../primitives/result.ts";
import { WorldState } from "../state/worldState.ts";
import { BlockStore } from "../storage/blocks/blockStore.ts";
import { type ChainDatabase, openChainDatabase } from "../storage/chainDatabase.ts";
import type { DatabaseOnDisk } from "../storage/database.ts";
import { RecoveryPool } from "../workers/recoveryPool.ts";
import { type DataDirectory, openDataDirectory } from "./dataFolder/dataDirectory.ts";
import { type DevelopmentFolder, openDevelopmentFolder } from "./dataFolder/developmentFolder.ts";
import { readHandOverMark, refuseMeanwhile } from "./dataFolder/handOverMark.ts";
import { type IdentityErrorCode, openIdentity } from "./keys/identity.ts";
import type { NodeKey } from "./keys/nodeKey.ts";
import type { OpenContext } from "./openContext.ts";
import { openValidator, type ValidatorIdentity } from "./signer/validatorIdentity.ts";

/** The data folder, the node key, and the database with its newest blocks verified. */
export interface Stores extends Pick<ChainDatabase, "headMarker" | "lost"> {
  readonly database: DatabaseOnDisk;
  readonly directory: DataDirectory;
  /** The node's identity among peers. */
  readonly key: NodeKey;
  /** Address of its validator key: of the same key, or of the one that a remote signer holds. */
  readonly validator: ValidatorIdentity;
  readonly blocks: BlockStore;
  readonly world: WorldState;
  /** Recovers senders on worker threads. */
  readonly recovery: RecoveryPool;
  /** Undefined where the comforts of the development network are not to be used. */
  readonly developmentFolder: DevelopmentFolder | undefined;
}

/** Opens the data folder, the key and the database. Throws DiskError or DamagedData when the database cannot be used. */
export async function openStores(
  context: OpenContext,
): Promise<
  Result<
    Stores,
    "unusableDataPath" | "diskFailure" | "unusableSigner" | "developmentFolder" | IdentityErrorCode
  >
> {
  const { settings, caches, logger, openParts } = context;
  const directory = openDataDirectory(settings.dataPath);
  if (!directory.ok) return directory;
  if (directory.value.hasBesuDatabase)
    logger.warn(
      { folder: settings.dataPath },
      "the data folder contains a Besu database, which is neither read nor changed",
    );
  const mark = readHandOverMark(settings.dataPath);
  if (!mark.ok) return mark;
  const key = await openIdentity(settings, directory.value, logger);
  if (!key.ok) return key;
  const developmentFolder = openDevelopmentFolder(settings, key.value);
  if (!developmentFolder.ok) return developmentFolder;
  // The remote signer is asked before anything else is opened.
  const validator = await openValidator(context, key.value);
  if (!validator.ok) return validator;
  const addresses = [key.value.address, validator.value.address];
  const { chain: path, headFile, voteFile } = directory.value;
  const isMarked = developmentFolder.value?.marked !== undefined;
  const { database, headMarker, lost } = openParts.add(
    await openChainDatabase({
      path,
      headFile,
      judgeLostEnd: (end) =>
        judgeLostEnd(end, {
          addresses,
          readVotes: () => readVotesOf(voteFile),
          hasPeers: settings.peers !== undefined,
          logger,
        }),
      migrationLog: logger,
      unsyncedLog: isMarked ? logger : undefined,
      cacheBytes: settings.databaseCacheBytes ?? caches.database,
      writeBufferBytes: caches.writeBuffer,
      openTables: caches.openTables,
    }),
  );
  const stillOurs = refuseMeanwhile(mark.value, addresses, settings.dataPath);
  if (!stillOurs.ok) return stillOurs;
  return ok({
    directory: directory.value,
    key: key.value,
    validator: validator.value,
    database,
    headMarker,
    lost,
    blocks: new BlockStore(caches.blocks, { database }),
    world: new WorldState({ database }, caches.state),
    recovery: openParts.add(new RecoveryPool({ logger })),
    developmentFolder: developmentFolder.value,
  });
}
