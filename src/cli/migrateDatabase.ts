import { durationOf } from "../observability/progress.ts";
import { DamagedData, DiskError } from "../storage/database.ts";
import { freeBytesOf } from "../storage/diskGuard.ts";
import { openLevelDatabase } from "../storage/leveldb/levelDatabase.ts";
import { migrate } from "../storage/migration/migrate.ts";
import { type MigrationPlan, planMigration } from "../storage/migration/planMigration.ts";
import { checkSchema, SCHEMA_VERSION } from "../storage/schema.ts";
import { CheckProgress } from "./checkProgress.ts";
import type { DatabasePaths } from "./databasePaths.ts";
import { EXIT, exitCodeOf } from "./exitCodes.ts";
import type { PrintedOutput } from "./printedOutput.ts";

interface MigrationRequest {
  readonly paths: DatabasePaths;
  /** True to only print what would be done. */
  readonly isDryRun: boolean;
  isStopped(): boolean;
  readonly output: PrintedOutput;
}

/** `ibex database migrate`: prints the plan, then performs it, with its progress every few seconds. */
export async function migrateDatabase(request: MigrationRequest): Promise<number> {
  const { paths } = request;
  const print = request.output.printLine;
  try {
    const database = await openLevelDatabase({ path: paths.chain });
    try {
      const plan = await planMigration(database);
      if (plan !== undefined) return await migrateAsPlanned(request, database, plan);
      const schema = await checkSchema(database);
      print(
        schema === "empty"
          ? "The database is empty: there is nothing to migrate."
          : `The database has schema version ${SCHEMA_VERSION} already: there is nothing to migrate.`,
      );
      return EXIT.ok;
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof DiskError || error instanceof DamagedData)) throw error;
    print(error.message);
    return exitCodeOf(error);
  }
}

async function migrateAsPlanned(
  { paths, isDryRun, isStopped, output }: MigrationRequest,
  database: Parameters<typeof migrate>[0],
  plan: MigrationPlan,
): Promise<number> {
  const print = output.printLine;
  const freeBytes = (): Promise<number | undefined> => freeBytesOf(paths.chain);
  for (const line of describe(plan, paths, await freeBytes())) print(line);
  if (isDryRun) return EXIT.ok;
  const progress = new CheckProgress(output);
  const end = await migrate(database, {
    freeBytes,
    isStopped,
    onStep({ from, step, leftBytes }) {
      progress.begin(
        `Migrating from schema version ${from} to ${from + 1}: ${step.what}`,
        leftBytes,
        "bytes",
      );
    },
    onProgress: (bytes) => progress.advance(bytes),
  }).finally(() => progress.end());
  if (end === "stopped") {
    print("The migration was stopped. Run `ibex database migrate` again: it continues where it stopped.");
    return EXIT.failed;
  }
  print(`The database has schema version ${plan.to}.`);
  return EXIT.ok;
}

function* describe(
  { from, to, isResumed, steps, bytes, roomBytes, seconds }: MigrationPlan,
  { chain }: DatabasePaths,
  freeBytes: number | undefined,
): Generator<string> {
  yield `The database in ${chain} has schema version ${from}${isResumed ? ", and its migration was interrupted" : ""}; this version of Ibex uses ${to}.`;
  for (const { from: version, step, leftBytes } of steps)
    yield `  ${version} to ${version + 1}: ${step.what} (${megabytes(leftBytes)})`;
  const free = freeBytes === undefined ? "" : `; ${megabytes(freeBytes)} are free`;
  yield `It reads ${megabytes(bytes)}, takes about ${durationOf(seconds)}, and needs ${megabytes(roomBytes)} of disk space${free}.`;
  yield "Once it has begun, older versions of Ibex refuse this database: the only way back is an earlier backup, or fetching the chain again.";
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MB`;
}
