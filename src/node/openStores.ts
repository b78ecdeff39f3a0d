import type { Settings } from "../config/settings.ts";
import { judgeLostEnd, readVotesOf } from "../consensus/lostEnd.ts";
import type { SignedTimes } from "../consensus/monitor/signedTimes.ts";
import type { RemoteSigner } from "../consensus/ports.ts";
import type { RootLogger } from "../observability/logger.ts";
import type { Metrics } from "../observability/registry.ts";
import type { Address } from "../primitives/address.ts";
import { type Clock, durationClock } from "../primitives/clock.ts";
import { equalBytes, toHex } from "../primitives/hex.ts";
import { ok, type Result } from "../primitives/result.ts";
import { WorldState } from "../state/worldState.ts";
import { BlockStore } from "../storage/blocks/blockStore.ts";
import { type ChainDatabase, openChainDatabase } from "../storage/chainDatabase.ts";
import { inMarkedFolder } from "../storage/checksum.ts";
import { DamagedData, type DatabaseOnDisk } from "../storage/database.ts";
import { DEFAULT_RECOVERY_SETTINGS, RecoveryPool } from "../workers/recoveryPool.ts";
import { type DataDirectory, openDataDirectory } from "./dataFolder/dataDirectory.ts";
import { type DevelopmentFolder, openDevelopmentFolder } from "./dataFolder/developmentFolder.ts";
import { readHandOverMark, refuseMeanwhile } from "./dataFolder/handOverMark.ts";
import type { CacheSizes } from "./host/cacheSizes.ts";
import { type IdentityErrorCode, openIdentity } from "./keys/identity.ts";
import type { NodeKey } from "./keys/nodeKey.ts";
import type { SignerHealth } from "./signer/signerHealth.ts";

/** Parameters shared by all open… functions. */
export interface OpenContext {
  readonly settings: Settings;
  readonly caches: CacheSizes;
  readonly logger: RootLogger;
  readonly clock: Clock;
  /** Tells the clock whether other validators agree with it. */
  readonly signedTimes: SignedTimes;
  /** Undefined when metrics are off. */
  readonly metrics: Metrics | undefined;
  /** Registers a part's close function as soon as it is open. The last part opened closes first. */
  readonly onStop: (close: () => Promise<void> | void) => void;
}

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
  readonly development: DevelopmentFolder | undefined;
}

export interface ValidatorIdentity {
  readonly address: Address;
  /** Who signs for it, and how that does; absent where the node's key is the validator's. */
  readonly signer?: RemoteSigner | undefined;
  readonly health?: (() => SignerHealth) | undefined;
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
  const { settings, caches, logger, onStop } = context;
  const directory = openDataDirectory(settings.dataPath);
  if (!directory.ok) return directory;
  if (directory.value.hasBesuDatabase) {
    logger.warn(
      { folder: settings.dataPath },
      "the data folder contains a Besu database, which is neither read nor changed",
    );
  }
  const mark = readHandOverMark(settings.dataPath);
  if (!mark.ok) return mark;
  const key = await openIdentity(settings, directory.value, logger);
  if (!key.ok) return key;
  const development = openDevelopmentFolder(settings, key.value);
  if (!development.ok) return development;
  const validator = await openValidator(context, key.value);
  if (!validator.ok) return validator;
  const addresses = [key.value.address, validator.value.address];
  const { chain: path, headFile, voteFile } = directory.value;
  const isMarked = development.value?.marked !== undefined;
  const stored = await openChainDatabase({
    path,
    headFile,
    judgeLostEnd: (end) =>
      judgeLostEnd(end, {
        addresses,
        readVotes: () => readVotesOf(voteFile),
        hasPeers: settings.peers !== undefined,
        logger,
      }),
    onUnsyncedLoss: isMarked ? (what) => tellUnsyncedLoss(what, logger) : undefined,
    onMigration: ({ from, to, bytes, seconds }) =>
      logger.info(
        { from, to, bytes, seconds },
        "the database has an older schema version and is migrated; older versions of Ibex refuse it from now on",
      ),
    cacheBytes: settings.databaseCacheBytes ?? caches.database,
    writeBufferBytes: caches.writeBuffer,
  }).catch((error: unknown) => {
    throw error instanceof DamagedData && isMarked ? inMarkedFolder(error) : error;
  });
  onStop(() => stored.close());
  const stillOurs = refuseMeanwhile(mark.value, addresses, settings.dataPath);
  if (!stillOurs.ok) return stillOurs;
  const { database, headMarker, lost } = stored;
  const recovery = new RecoveryPool({ ...DEFAULT_RECOVERY_SETTINGS, logger });
  onStop(() => recovery.close());
  return ok({
    directory: directory.value,
    key: key.value,
    validator: validator.value,
    database,
    headMarker,
    lost,
    blocks: new BlockStore(caches.blocks, { database }),
    world: new WorldState({ database }, caches.state),
    recovery,
    development: development.value,
  });
}

function tellUnsyncedLoss(what: string, logger: RootLogger): void {
  logger.warn(
    { lost: what },
    "this development chain has lost its newest blocks, which are not synced: the power was cut, or files were changed. It goes on from " +
      "the newest block that is left",
  );
}

/** Asks the remote signer for its keys, if there is one, before anything else is opened. */
async function openValidator(
  { settings, logger, metrics, onStop }: OpenContext,
  key: NodeKey,
): Promise<Result<ValidatorIdentity, "unusableSigner">> {
  if (settings.signer === undefined) return ok({ address: key.address });
  const { openSigner } = await import("./signer/openSigner.ts");
  const opened = await openSigner(settings.signer, {
    requestTimeoutSeconds: settings.chainSpec.ibft.requestTimeoutSeconds,
    clock: durationClock,
    logger: logger.child("consensus"),
    metrics,
  });
  if (!opened.ok) return opened;
  onStop(() => opened.value.close());
  const { address } = opened.value;
  if (!equalBytes(address, key.address))
    logger.warn(
      { node: toHex(key.address), validator: toHex(address) },
      "this node's key is not its validator's: Besu sends consensus messages only to peers whose node key is a validator's, so " +
        "no Besu node will send this one any, and it votes through Ibex nodes alone (docs/operating/keys.md)",
    );
  return opened;
}
