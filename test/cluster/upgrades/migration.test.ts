import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Batch } from "../../../src/storage/batch.ts";
import { sealEntry } from "../../../src/storage/checksum.ts";
import { KEY_PREFIXES } from "../../../src/storage/keys.ts";
import { openLevelDatabase } from "../../../src/storage/leveldb/levelDatabase.ts";
import { putSchema, readSchema } from "../../../src/storage/schema.ts";
import { preimageKey } from "../../../src/storage/stateKeys.ts";
import { buildNextVersion } from "../../builders/nextVersion.ts";
import { unpackArchive } from "../../fixtures/archive.ts";
import { generator } from "../../storage/random.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import {
  PROGRAM,
  pause,
  type RunningProgram,
  rpc,
  runProgram,
  startNodeProcess,
  temporaryFolder,
} from "../harness/nodeProcess.ts";

const KILLS = Number(process.env["IBEX_MIGRATION_KILLS"] ?? 3);
const SEED = Number(process.env["IBEX_SEED"] ?? Date.now() % 1_000_000);
const FIXTURE = join(import.meta.dirname, "..", "..", "fixtures", "folders", "schema-1.br");
/** Enough that a node does not migrate it at its start. */
const LARGE_BYTES = 20 * 1024 * 1024;
/** Small enough to be migrated at a node's start; a dozen batches in each of the two passes that move, for kills. */
const SMALL_BYTES = 6 * 1024 * 1024;
/** Kills, of which one at least comes during a migration. */
const MOST_KILLS = 200;

/** A folder of today's schema version, today's program, and one of a later version whose schema version is 3. */
describe.runIf(IS_THOROUGH)("a database and programs of several schema versions", () => {
  let next = "";
  let small = "";
  beforeAll(async () => {
    next = buildNextVersion(temporaryFolder());
    small = aFolder();
    await enlarge(join(small, "data"), SMALL_BYTES);
  });

  it("a small one is migrated at the start of the later version, which answers as before, and today's refuses it", async () => {
    const folder = aFolder();
    const node = await startNodeProcess(nodeOf(folder, next));
    expect(node.output()).toContain("the database has an older schema version and is migrated");
    const { answers } = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as Expected;
    for (const { method, params, result } of answers)
      expect(await rpc(node.httpUrl, method, params), method).toEqual(result);
    expect(await node.stop()).toBe(0);
    expect(await schemaOf(folder)).toEqual({ version: 3 });
    expect((await ibex(next, folder, "check")).output).toContain("The database is sound.");
    for (const { exitCode, output } of [
      await ibex(PROGRAM, folder, "info"),
      await started(PROGRAM, folder),
    ]) {
      expect(exitCode).toBe(2);
      expect(output).toMatch(/schema version 3; this version of Ibex reads version 1 only/);
      expect(output).toMatch(/start that one again.*restore a backup/);
    }
  });

  it("a large one is refused at the start, with the command, which says what it will do", async () => {
    const folder = aFolder();
    await enlarge(join(folder, "data"), LARGE_BYTES);
    const before = await contentOf(folder);
    for (const { exitCode, output } of [await started(next, folder), await ibex(next, folder, "check")]) {
      expect(exitCode).toBe(2);
      expect(output).toMatch(/schema version 1; this version of Ibex uses version 3.*ibex database migrate/);
    }
    const info = await ibex(next, folder, "info");
    expect(info).toMatchObject({ exitCode: 0 });
    expect(info.output).toContain("schema version: 1\nmigration needed: to schema version 3");
    const dry = await ibex(next, folder, "migrate", "--dry-run");
    expect(dry).toMatchObject({ exitCode: 0 });
    expect(dry.output).toMatch(/has schema version 1; this version of Ibex uses 3\./);
    expect(dry.output).toMatch(/ {2}1 to 2: Move preimages and mark transactions \(2\d MB\)/);
    expect(dry.output).toMatch(
      /It reads \d+ MB, takes about \d+ s, and needs \d+ MB of disk space; \d+ MB are free\./,
    );
    expect(await contentOf(folder)).toBe(before);
    expect(await schemaOf(folder)).toEqual({ version: 1 });
    // Today's program still takes it.
    const today = await ibex(PROGRAM, folder, "migrate");
    expect(today).toMatchObject({ exitCode: 0 });
    expect(today.output).toContain("has schema version 1 already: there is nothing to migrate");
  });

  const migrating = (folder: string): RunningProgram =>
    runProgram([`--data-path=${join(folder, "data")}`, "database", "migrate"], undefined, [], next);

  /** Resolves when a migration says that it begins, or has ended. */
  async function untilMigrating({ child, output }: RunningProgram): Promise<void> {
    while (!output().includes("Migrating") && child.exitCode === null) await pause(5);
  }

  it(`kill -9 at any moment: it goes on, to what an uninterrupted one gives (${KILLS} kills, IBEX_SEED=${SEED})`, async () => {
    const before = await contentOf(small);
    const uninterrupted = copyOf(small);
    const whole = migrating(uninterrupted);
    await untilMigrating(whole);
    const begunAtMs = performance.now();
    expect(await whole.exit).toBe(0);
    expect(whole.output()).toMatch(
      /Migrating from schema version 2 to 3: .*\n(.*\n)*The database has schema version 3\./,
    );
    let folder = copyOf(small);
    const random = generator(SEED);
    let interrupted = 0;
    // Kills before its first batch and after its last count for nothing; a machine that is busier or less busy now changes the others.
    let latestMs = performance.now() - begunAtMs;
    for (let kill = 0; kill < KILLS || (interrupted === 0 && kill < MOST_KILLS); kill++) {
      const program = migrating(folder);
      await untilMigrating(program);
      await pause(random.below(Math.ceil(latestMs)));
      program.child.kill("SIGKILL");
      await program.exit;
      const stored = await schemaOf(folder);
      if (stored?.migration === undefined) {
        const isOver = stored?.version === 3;
        if (isOver) folder = copyOf(small);
        latestMs *= isOver ? 0.8 : 1.25;
        continue;
      }
      interrupted++;
      const today = await ibex(PROGRAM, folder, "info");
      expect(today.exitCode).toBe(2);
      expect(today.output).toMatch(/has schema version [23]; this version of Ibex reads version 1 only/);
      const later = await ibex(next, folder, "check");
      expect(later.exitCode).toBe(2);
      expect(later.output).toMatch(
        /migration of the database from .* is not finished. Run `ibex database migrate` again/,
      );
    }
    expect(interrupted).toBeGreaterThan(0);
    const last = await ibex(next, folder, "migrate");
    expect(last).toMatchObject({ exitCode: 0 });
    expect(await schemaOf(folder)).toEqual({ version: 3 });
    expect(await contentOf(folder)).toBe(await contentOf(uninterrupted));
    // The second step undoes the first.
    expect(await contentOf(folder)).toBe(before);
    expect((await ibex(next, folder, "check")).output).toContain("The database is sound.");
  });

  it("Ctrl-C ends a migration after a batch, and the next start of a node ends it", async () => {
    let folder: string;
    let program: RunningProgram;
    // One may be over before this process, which may stand still, has sent the signal.
    do {
      folder = copyOf(small);
      program = migrating(folder);
      await untilMigrating(program);
      program.child.kill("SIGINT");
    } while ((await program.exit) === 0);
    expect(program.child.exitCode).toBe(1);
    expect(program.output()).toContain("The migration was stopped. Run `ibex database migrate` again");
    // A small one goes on by itself.
    const node = await startNodeProcess(nodeOf(folder, next));
    expect(node.output()).toContain("the database has an older schema version and is migrated");
    expect(await node.stop()).toBe(0);
    expect(await schemaOf(folder)).toEqual({ version: 3 });
  });

  it("a backup that today's version made is restored by the later one, and migrated at the start", async () => {
    const backups = temporaryFolder();
    const made = await ranBy(PROGRAM, aFolder(), "backup", `--to=${backups}`);
    expect(made).toMatchObject({ exitCode: 0 });
    const [backup = ""] = readdirSync(backups);
    const folder = aFolder();
    for (const name of ["chain", "head.log", "caches"])
      rmSync(join(folder, "data", name), { recursive: true, force: true });
    const restored = await ranBy(next, folder, "backup", "restore", `--from=${join(backups, backup)}`);
    expect(restored).toMatchObject({ exitCode: 0 });
    expect(restored.output).toContain("migration needed: run `ibex database migrate`");
    const node = await startNodeProcess(nodeOf(folder, next));
    expect(await node.rpc("eth_blockNumber")).toBe("0x78");
    expect(await node.stop()).toBe(0);
    expect(await schemaOf(folder)).toEqual({ version: 3 });
  });

  it("a version that no release wrote is refused", async () => {
    const folder = aFolder();
    const database = await openLevelDatabase({ path: join(folder, "data", "chain") });
    const batch = new Batch();
    putSchema(batch, { version: 0 });
    await database.write(batch);
    await database.close();
    for (const program of [PROGRAM, next]) {
      const { exitCode, output } = await started(program, folder);
      expect(exitCode).toBe(2);
      expect(output).toContain("schema version 0, which no release of Ibex wrote");
    }
  });
});

interface Expected {
  readonly answers: readonly {
    readonly method: string;
    readonly params: readonly unknown[];
    readonly result: unknown;
  }[];
}

function aFolder(): string {
  const folder = temporaryFolder();
  unpackArchive(readFileSync(FIXTURE), folder);
  return folder;
}

function copyOf(folder: string): string {
  const copy = temporaryFolder();
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Adds preimages of nothing, which no answer depends on. */
async function enlarge(dataPath: string, addedBytes: number): Promise<void> {
  const random = generator(7);
  const database = await openLevelDatabase({ path: join(dataPath, "chain") });
  for (let bytes = 0; bytes < addedBytes; ) {
    const batch = new Batch();
    while (batch.byteLength < 2 * 1024 * 1024) {
      const key = Uint8Array.from(preimageKey(random.bytes(32)));
      batch.put(key, sealEntry(key, new Uint8Array(1000).fill(random.below(256))));
    }
    bytes += batch.byteLength;
    await database.write(batch);
  }
  await database.close();
}

function nodeOf(folder: string, program: string) {
  return {
    dataPath: join(folder, "data"),
    program,
    options: [
      `--genesis-file=${join(folder, "genesis.json")}`,
      "--p2p-port=0",
      "--rpc-http-enabled",
      "--rpc-http-api=ETH,NET,WEB3,DEBUG,IBFT",
      "--revert-reason-enabled",
    ],
  };
}

/** A start that is expected to fail. */
async function started(program: string, folder: string) {
  const { dataPath, options } = nodeOf(folder, program);
  return ended(runProgram([`--data-path=${dataPath}`, ...options], undefined, [], program));
}

function ibex(file: string, folder: string, ...words: readonly string[]) {
  return ranBy(file, folder, "database", ...words);
}

function ranBy(file: string, folder: string, ...words: readonly string[]) {
  return ended(runProgram([`--data-path=${join(folder, "data")}`, ...words], undefined, [], file));
}

async function ended(program: ReturnType<typeof runProgram>) {
  const exitCode = await program.exit;
  return { exitCode, output: program.output() };
}

async function schemaOf(folder: string) {
  const database = await openLevelDatabase({ path: join(folder, "data", "chain") });
  try {
    return await readSchema(database);
  } finally {
    await database.close();
  }
}

/** Hash of all entries but the schema version, which is the first value about the database. */
async function contentOf(folder: string): Promise<string> {
  const database = await openLevelDatabase({ path: join(folder, "data", "chain") });
  const hash = createHash("sha256");
  for await (const [key, value] of database.range({
    from: Uint8Array.of(KEY_PREFIXES.meta + 1),
    until: Uint8Array.of(0xff),
  }))
    hash.update(`${key.length} ${value.length} `).update(key).update(value);
  await database.close();
  return hash.digest("hex");
}
