import type { Settings } from "../config/settings.ts";
import type { RootLogger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Clock } from "../primitives/clock.ts";
import { ok, type Result } from "../primitives/result.ts";
import { curve } from "../primitives/secp256k1.ts";
import { createWorldState, type WorldState } from "../state/worldState.ts";
import { BLOCK_STORE_LIMITS, type BlockStore, createBlockStore } from "../storage/blocks/blockStore.ts";
import { type ChainDatabase, openChainDatabase } from "../storage/chainDatabase.ts";
import { createRecoveryPool, DEFAULT_RECOVERY_SETTINGS, type RecoveryPool } from "../workers/recoveryPool.ts";
import { type DataDirectory, openDataDirectory } from "./dataDirectory.ts";
import { type IdentityErrorCode, openIdentity } from "./identity.ts";
import type { NodeKey } from "./nodeKey.ts";

/** Parameters shared by all open… functions. */
export interface OpenContext {
  readonly settings: Settings;
  readonly logger: RootLogger;
  readonly clock: Clock;
  /** Undefined when metrics are off. */
  readonly metrics: Metrics | undefined;
  /** Registers a part's close function as soon as it is open. The last part opened closes first. */
  readonly onStop: (close: () => Promise<void> | void) => void;
}

/** The data folder, the node key, and the database with its newest blocks verified. */
export interface Stores extends Pick<ChainDatabase, "database" | "headMarker"> {
  readonly directory: DataDirectory;
  readonly key: NodeKey;
  readonly blocks: BlockStore;
  readonly world: WorldState;
  /** Recovers senders on worker threads. */
  readonly recovery: RecoveryPool;
}

/** Opens the data folder, the key and the database. Throws DiskError or DamagedData when the database cannot be used. */
export async function openStores(
  context: OpenContext,
): Promise<Result<Stores, "unusableDataPath" | "diskFailure" | IdentityErrorCode>> {
  const { settings, logger, onStop } = context;
  const directory = openDataDirectory(settings.dataPath);
  if (!directory.ok) return directory;
  if (directory.value.hasBesuDatabase) {
    logger.warn(
      { folder: settings.dataPath },
      "the data folder contains a Besu database, which is neither read nor changed",
    );
  }
  const key = await openIdentity(settings, directory.value, logger);
  if (!key.ok) return key;
  if (curve.name === "noble") {
    logger.warn(
      {},
      "no native secp256k1 binding for this platform: signature recovery takes twenty times as long",
    );
  }
  const stored = await openChainDatabase({
    path: directory.value.chain,
    headFile: directory.value.headFile,
    onMigration: ({ from, to, bytes, seconds }) =>
      logger.info(
        { from, to, bytes, seconds },
        "the database has an older schema version and is migrated; older versions of Ibex refuse it from now on",
      ),
    ...(settings.databaseCacheBytes !== undefined && { cacheBytes: settings.databaseCacheBytes }),
  });
  onStop(() => stored.close());
  const { database, headMarker } = stored;
  const recovery = createRecoveryPool({
    ...DEFAULT_RECOVERY_SETTINGS,
    onDeath: (error, deaths) =>
      logger.warn(
        { error, deaths },
        "a thread for signatures ended in the middle of its work, which the main thread has done; another one starts",
      ),
    onFailure: (error) =>
      logger.error(
        { error },
        "no thread for signatures can run; the main thread recovers senders, and is slower",
      ),
  });
  onStop(() => recovery.close());
  return ok({
    directory: directory.value,
    key: key.value,
    database,
    headMarker,
    blocks: createBlockStore(BLOCK_STORE_LIMITS, { database }),
    world: createWorldState({ database }),
    recovery,
  });
}
