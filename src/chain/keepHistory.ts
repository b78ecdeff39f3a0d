import { smaller } from "../primitives/quantity.ts";
import { Batch } from "../storage/batch.ts";
import { type HistoryStart, putHistoryStart } from "../storage/historyStart.ts";
import { putPrunedSchema } from "../storage/schema.ts";
import { NO_BASE, putStateBase, readStateBase } from "../storage/stateBase.ts";
import type { NamedHeader } from "../types/block.ts";
import type { ChainStores } from "./chainStores.ts";

type KeptStores = Pick<ChainStores, "database" | "blocks">;

/**
 * Moves the start of the whole blocks to `kept` blocks before the head, unless it is later already; never past the start of
 * the states, which a block without its state could not restore. Callers must serialise it with the moves of the head.
 */
export function keepBlocks(
  stores: KeptStores,
  { header: { number } }: NamedHeader,
  kept: bigint,
): Promise<HistoryStart> {
  const { historyStart } = stores.blocks;
  return moveStart(stores, { ...historyStart, blocks: smaller(number - kept, historyStart.states) });
}

/**
 * Moves the start of the states to `kept` blocks before the head, unless it is later already. Callers must serialise it with
 * the moves of the head, and not call it while states are being removed.
 */
export function keepStates(
  stores: KeptStores,
  { header: { number } }: NamedHeader,
  kept: bigint,
): Promise<HistoryStart> {
  const { database, blocks } = stores;
  return moveStart(stores, { ...blocks.historyStart, states: number - kept }, (batch) => {
    if (readStateBase(database) === undefined) putStateBase(batch, NO_BASE);
  });
}

/**
 * Moves the start of the history forward to `start`, never back. The move is durable before it is visible, and visible
 * before anything is removed (storage/removal/blockRemover.ts, state/removal/stateRemover.ts). From the first time on,
 * programs that do not know of removed blocks and states refuse the database by its schema version.
 */
async function moveStart(
  { database, blocks }: KeptStores,
  start: HistoryStart,
  addMarks: (batch: Batch) => void = () => undefined,
): Promise<HistoryStart> {
  const { historyStart } = blocks;
  if (start.blocks <= historyStart.blocks && start.states <= historyStart.states) return historyStart;
  const batch = new Batch();
  putHistoryStart(batch, start);
  addMarks(batch);
  putPrunedSchema(batch);
  await database.write(batch);
  blocks.reloadHistoryStart();
  return blocks.historyStart;
}
