import { type Chain, createChain } from "../../chain/createChain.ts";
import type { Settings } from "../../config/settings.ts";
import { openDataDirectory } from "../../node/dataFolder/dataDirectory.ts";
import { withGenesisOfChain } from "../../node/dataFolder/genesisOfChain.ts";
import { type IdentityErrorCode, openIdentity } from "../../node/keys/identity.ts";
import type { Logger } from "../../observability/logger.ts";
import { asAddress } from "../../primitives/address.ts";
import { systemClock } from "../../primitives/clock.ts";
import { ok, type Result } from "../../primitives/result.ts";
import { WorldState } from "../../state/worldState.ts";
import { BlockStore, type BlockStoreLimits } from "../../storage/blocks/blockStore.ts";
import { openChainDatabase } from "../../storage/chainDatabase.ts";
import { recoveryItemOf } from "../../types/transactionSignature.ts";
import { RecoveryPool } from "../../workers/recoveryPool.ts";

/** Imported blocks are not read again, except for the hashes of the newest 256 by BLOCKHASH. */
const IMPORT_STORE_LIMITS: BlockStoreLimits = { headers: 1024, blockBytes: 0 };

/** The chain of a data folder, opened only to import many blocks. */
export interface ImportChain {
  readonly chain: Chain;
  /** Releases the folder. */
  close(): Promise<void>;
}

/** Throws as openChainDatabase does. */
export async function openImportChain(
  settings: Settings,
  logger: Logger,
): Promise<Result<ImportChain, "unusableDataPath" | "differentGenesis" | IdentityErrorCode>> {
  const directory = openDataDirectory(settings.dataPath);
  if (!directory.ok) return directory;
  // The node key is created, as in Besu, so that a chain never lacks its node's key.
  const identity = await openIdentity(settings, directory.value, logger);
  if (!identity.ok) return identity;
  const clock = systemClock;
  const stored = await openChainDatabase({
    path: directory.value.chain,
    headFile: directory.value.headFile,
    ...(settings.databaseCacheBytes !== undefined && { cacheBytes: settings.databaseCacheBytes }),
  });
  const recovery = new RecoveryPool();
  const close = async (): Promise<void> => {
    await recovery.close();
    await stored.close();
  };
  try {
    const { database, headMarker } = stored;
    const blocks = new BlockStore(IMPORT_STORE_LIMITS, { database });
    const opened = await createChain(
      { builder: asAddress(new Uint8Array(20)), vanity: settings.blockProduction.vanity },
      {
        spec: withGenesisOfChain(settings, blocks).chainSpec,
        stores: {
          database,
          headMarker,
          blocks,
          world: new WorldState({ database }),
        },
        clock,
        recoverSenders: (transactions) => recovery.recoverMany(transactions.map(recoveryItemOf)),
        recoverSigners: (items) => recovery.recoverMany(items),
        production: { ...settings.blockProduction, keepsRevertReasons: settings.keepsRevertReasons },
        logger: logger.child("chain"),
      },
    );
    if (!opened.ok) {
      await close();
      return opened;
    }
    return ok({ chain: opened.value, close });
  } catch (error) {
    await close();
    throw error;
  }
}
