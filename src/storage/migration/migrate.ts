import { assert } from "../../primitives/assert.ts";
import { compareBytes, EMPTY_BYTES } from "../../primitives/hex.ts";
import { Batch } from "../batch.ts";
import { type DatabaseOnDisk, DiskError } from "../database.ts";
import { type MigrationMark, putSchema, readSchema, refusalOfVersion, type StoredSchema } from "../schema.ts";
import type { MigrationPass, MigrationStep } from "./migrationStep.ts";
import { type PlannedStep, planStep, roomOf } from "./planMigration.ts";
import { FIRST_SCHEMA_VERSION, MIGRATION_STEPS } from "./steps.ts";

interface MigrationRun {
  readonly steps?: readonly MigrationStep[];
  /** Called before each step, then after each batch with the bytes that it has read. */
  readonly onStep?: (step: PlannedStep) => void;
  readonly onProgress?: (bytes: number) => void;
  readonly isStopped?: () => boolean;
  /** Free bytes of the disk; undefined when the system does not say. */
  readonly freeBytes: () => Promise<number | undefined>;
}

/** Bytes of operations, or of entries read for them, at which a batch is written. */
const BATCH_BYTES = 512 * 1024;

/**
 * Brings the database to the newest schema version, step by step. Each batch is written together with the progress mark of
 * the step, in one synced write: a kill at any moment loses no batch and repeats none, and the next call continues there.
 * From the first batch on the stored version is that of the step's end, which an older program refuses, and its mark says
 * that the step is unfinished, which a newer one does not overlook.
 *
 * Memory is bounded by a batch. Throws DiskError when there is not enough room for a step or the disk fails, and DamagedData
 * for a damaged entry; the database is then as after a kill.
 */
export async function migrate(
  database: DatabaseOnDisk,
  { steps = MIGRATION_STEPS, ...run }: MigrationRun,
): Promise<"done" | "stopped"> {
  for (;;) {
    const stored = await readSchema(database);
    if (stored === undefined) return "done";
    const refused = refusalOfVersion(stored, steps);
    assert(refused === undefined, refused ?? "");
    const from = stored.migration?.from ?? stored.version;
    const step = steps[from - FIRST_SCHEMA_VERSION];
    if (step === undefined) return "done";
    const planned = await planStep(database, { from, step, stored });
    await requireRoom(planned, run);
    run.onStep?.(planned);
    if ((await finishStep(database, planned, stored, run)) === "stopped") return "stopped";
  }
}

/** Continues at the mark, or begins; the last write completes the step. */
async function finishStep(
  database: DatabaseOnDisk,
  { from, step, totalBytes }: PlannedStep,
  { migration: begun, isPruned = false }: StoredSchema,
  run: Omit<MigrationRun, "steps">,
): Promise<"done" | "stopped"> {
  let mark: MigrationMark = begun ?? { from, pass: 0, cursor: EMPTY_BYTES, doneBytes: 0, totalBytes };
  for (let pass = mark.pass; pass < step.passes.length; pass++) {
    if (pass !== mark.pass) mark = { ...mark, pass, cursor: EMPTY_BYTES };
    for (;;) {
      if (run.isStopped?.() === true) return "stopped";
      const converted = await convertSome(database, step.passes[pass] as MigrationPass, mark.cursor);
      if (converted === undefined) break;
      mark = { ...mark, cursor: converted.last, doneBytes: mark.doneBytes + converted.bytes };
      putSchema(converted.batch, { version: from + 1, isPruned, migration: mark });
      await database.write(converted.batch);
      run.onProgress?.(converted.bytes);
    }
  }
  const end = new Batch();
  putSchema(end, { version: from + 1, isPruned });
  await database.write(end);
  // This frees the room of the old entries, which LevelDB would do much later. A kill here loses nothing else.
  for (const { range } of step.passes) await database.compact(range);
  return "done";
}

interface Converted {
  readonly batch: Batch;
  /** Key of the last entry. */
  readonly last: Uint8Array;
  readonly bytes: number;
}

/** Converts entries after the cursor until a batch is full; undefined when there are none. */
async function convertSome(
  database: DatabaseOnDisk,
  { range, convert }: MigrationPass,
  cursor: Uint8Array,
): Promise<Converted | undefined> {
  const batch = new Batch();
  const from = cursor.length === 0 ? range.from : Uint8Array.of(...cursor, 0);
  let last: Uint8Array | undefined;
  let bytes = 0;
  for await (const [key, value] of database.range({ from, until: range.until })) {
    const before = batch.operations.length;
    convert({ key, value }, batch);
    for (const operation of batch.operations.slice(before)) refuseAhead(operation.key, key, range);
    last = key;
    bytes += key.length + value.length;
    if (bytes >= BATCH_BYTES || batch.byteLength >= BATCH_BYTES) break;
  }
  return last && { batch, last: Uint8Array.from(last), bytes };
}

/** Refuses a key ahead in the same range, which would be converted once more. */
function refuseAhead(written: Uint8Array, read: Uint8Array, { until }: MigrationPass["range"]): void {
  const isAhead = compareBytes(written, read) > 0 && compareBytes(written, until) < 0;
  assert(!isAhead, "a migration writes no key that its pass has still to read");
}

async function requireRoom(
  planned: PlannedStep,
  { freeBytes }: Pick<MigrationRun, "freeBytes">,
): Promise<void> {
  const free = await freeBytes();
  const wanted = roomOf(planned);
  if (free === undefined || free >= wanted) return;
  throw new DiskError(
    `The migration to schema version ${planned.from + 1} needs ${megabytes(wanted)} MB of free disk space, and there are ` +
      `${megabytes(free)} MB: make room, then run it again. Nothing was changed by this run.`,
  );
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1024 ** 2);
}
