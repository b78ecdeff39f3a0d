import { type Chain, createChain } from "../../chain/createChain.ts";
import type { Settings } from "../../config/settings.ts";
import { openDataDirectory } from "../../node/dataDirectory.ts";
import { type IdentityErrorCode, openIdentity } from "../../node/identity.ts";
import type { Logger } from "../../observability/logger.ts";
import { asAddress } from "../../primitives/address.ts";
import { systemClock } from "../../primitives/clock.ts";
import { ok, type Result } from "../../primitives/result.ts";
import { createWorldState } from "../../state/worldState.ts";
import { type BlockStoreLimits, createBlockStore } from "../../storage/blocks/blockStore.ts";
import { openChainDatabase } from "../../storage/chainDatabase.ts";
import { groupCommits } from "../../storage/groupedCommits.ts";
import { createRecoveryPool } from "../../workers/recoveryPool.ts";
import { type AheadRecovery, createAheadRecovery } from "./aheadRecovery.ts";

/** Nobody asks for a block that was imported, but BLOCKHASH for the names of the newest 256. */
const IMPORT_STORE_LIMITS: BlockStoreLimits = { headers: 1024, transactions: 0 };

/** The chain of a data folder, open for importing many blocks and nothing else. */
export interface ImportChain {
  readonly chain: Chain;
  readonly ahead: AheadRecovery;
  /** Makes durable what was imported. */
  flush(): Promise<void>;
  /** As flush, and gives the folder back. */
  close(): Promise<void>;
}

/** Throws what openChainDatabase throws. */
export async function openImportChain(
  settings: Settings,
  logger: Logger,
): Promise<Result<ImportChain, "unusableDataPath" | "differentGenesis" | IdentityErrorCode>> {
  const directory = openDataDirectory(settings.dataPath);
  if (!directory.ok) return directory;
  // As Besu does, and so that a chain is never without the key of its node.
  const identity = openIdentity(settings, directory.value, logger);
  if (!identity.ok) return identity;
  const clock = systemClock;
  const stored = await openChainDatabase({
    path: directory.value.chain,
    headFile: directory.value.headFile,
    ...(settings.databaseCacheBytes !== undefined && { cacheBytes: settings.databaseCacheBytes }),
  });
  const recovery = createRecoveryPool();
  const grouped = groupCommits({ ...stored, clock });
  const close = async (): Promise<void> => {
    try {
      await grouped.flush();
    } finally {
      await recovery.close();
      await stored.close();
    }
  };
  try {
    const { database, headMarker } = grouped;
    const ahead = createAheadRecovery(recovery);
    const opened = await createChain(
      { builder: asAddress(new Uint8Array(20)), vanity: settings.blockProduction.vanity },
      {
        spec: settings.chainSpec,
        stores: {
          database,
          headMarker,
          blocks: createBlockStore(IMPORT_STORE_LIMITS, { database }),
          world: createWorldState({ database }),
        },
        clock,
        recoverSenders: ahead.recoverSenders,
        recoverSealers: ahead.recoverSealers,
        production: { ...settings.blockProduction, keepsRevertReasons: settings.keepsRevertReasons },
        logger: logger.child("chain"),
      },
    );
    if (!opened.ok) {
      await close();
      return opened;
    }
    return ok({ chain: opened.value, ahead, flush: () => grouped.flush(), close });
  } catch (error) {
    await close();
    throw error;
  }
}
