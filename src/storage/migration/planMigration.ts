import type { DatabaseOnDisk } from "../database.ts";
import { readSchema, refusalOfVersion, type StoredSchema } from "../schema.ts";
import type { MigrationStep } from "./migrationStep.ts";
import { FIRST_SCHEMA_VERSION, MIGRATION_STEPS } from "./steps.ts";

/** The steps left until the database has the newest schema version. */
export interface MigrationPlan {
  /** Schema version of the entries that are not converted yet. */
  readonly from: number;
  readonly to: number;
  /** True when a migration was interrupted. */
  readonly isResumed: boolean;
  readonly steps: readonly PlannedStep[];
  /** Bytes to read; for a later step only those that exist already. */
  readonly bytes: number;
  readonly roomBytes: number;
  readonly seconds: number;
}

export interface PlannedStep {
  readonly from: number;
  readonly step: MigrationStep;
  /** Bytes of all its entries, and of those that are not converted yet. */
  readonly totalBytes: number;
  readonly leftBytes: number;
}

/** A node migrates a database at its start when it has to read less than this: some seconds. */
const QUICK_BYTES = 16 * 1024 * 1024;

/** Measured on two busy cores: 2.5 MB a second with entries of 60 bytes, which are slow for their size, 18 with 1,000. */
const BYTES_PER_SECOND = 2.5 * 1024 * 1024;

/**
 * Room needed for each byte written: old entries remain until LevelDB compacts their tables, and the tables that a
 * compaction reads remain until it is complete. Measured: 1.3 and 0.8 bytes for each byte written, with entries as above.
 */
const ROOM_FACTOR = 2;
/** Room for LevelDB's log, and for what a start always writes. */
const ROOM_RESERVE_BYTES = 64 * 1024 * 1024;

/**
 * Plans a migration; undefined when there is nothing to migrate, or nothing that these steps can migrate. Throws as
 * readSchema does.
 */
export async function planMigration(
  database: DatabaseOnDisk,
  steps: readonly MigrationStep[] = MIGRATION_STEPS,
): Promise<MigrationPlan | undefined> {
  const stored = await readSchema(database);
  if (stored === undefined || refusalOfVersion(stored, steps) !== undefined) return undefined;
  const from = stored.migration?.from ?? stored.version;
  const due = steps.slice(from - FIRST_SCHEMA_VERSION);
  if (due.length === 0) return undefined;
  const planned: PlannedStep[] = [];
  for (const [index, step] of due.entries())
    planned.push(await planStep(database, { from: from + index, step, stored }));
  const bytes = planned.reduce((sum, { leftBytes }) => sum + leftBytes, 0);
  return {
    from,
    to: FIRST_SCHEMA_VERSION + steps.length,
    isResumed: stored.migration !== undefined,
    steps: planned,
    bytes,
    roomBytes: planned.reduce((sum, one) => sum + roomOf(one), 0),
    seconds: Math.ceil(bytes / BYTES_PER_SECOND),
  };
}

/**
 * Whether a node may migrate at its start. Going back to the old program then costs no more than fetching such a small chain
 * again.
 */
export function isQuick({ steps }: MigrationPlan): boolean {
  return steps.reduce((sum, { totalBytes }) => sum + totalBytes, 0) < QUICK_BYTES;
}

export async function planStep(
  database: DatabaseOnDisk,
  { from, step, stored }: Pick<PlannedStep, "from" | "step"> & { readonly stored: StoredSchema },
): Promise<PlannedStep> {
  const { migration } = stored;
  if (migration?.from === from) {
    const { totalBytes, doneBytes } = migration;
    return { from, step, totalBytes, leftBytes: Math.max(0, totalBytes - doneBytes) };
  }
  let totalBytes = 0;
  for (const { range } of step.passes) totalBytes += await database.approximateBytes(range);
  return { from, step, totalBytes, leftBytes: totalBytes };
}

/** Free bytes of disk that a step requires before it begins. */
export function roomOf({ step, leftBytes }: PlannedStep): number {
  return ROOM_RESERVE_BYTES + Math.ceil(ROOM_FACTOR * step.growth * leftBytes);
}
