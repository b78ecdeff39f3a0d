import { createBatch } from "../storage/batch.ts";
import { type HistoryStart, putHistoryStart } from "../storage/historyStart.ts";
import { putPrunedSchema } from "../storage/schema.ts";
import { NO_BASE, putStateBase, readStateBase } from "../storage/stateBase.ts";
import type { NamedHeader } from "../types/block.ts";
import type { ChainStores } from "./chainStores.ts";

/**
 * Has the states begin `kept` blocks before the head, unless they begin later already. Durable before it is visible, and visible
 * before anything is removed (state/removal/stateRemover.ts). From the first time on, programs that do not know of removed states
 * refuse the database by its schema version. Callers must serialise it with the moves of the head, and not call it while states are
 * being removed.
 */
export async function keepStates(
  { database, blocks }: Pick<ChainStores, "database" | "blocks">,
  { header: { number } }: NamedHeader,
  kept: bigint,
): Promise<HistoryStart> {
  const { historyStart } = blocks;
  const states = number - kept;
  if (states <= historyStart.states) return historyStart;
  const batch = createBatch();
  putHistoryStart(batch, { ...historyStart, states });
  if (readStateBase(database) === undefined) putStateBase(batch, NO_BASE);
  putPrunedSchema(batch);
  await database.write(batch);
  blocks.reloadHistoryStart();
  return blocks.historyStart;
}
