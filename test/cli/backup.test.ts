import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createBackup } from "../../src/cli/backup/createBackup.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { Progress } from "../../src/observability/progress.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { Batch } from "../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../src/storage/blocks/blockStore.ts";
import { openChainDatabase } from "../../src/storage/chainDatabase.ts";
import { aStoredChain } from "../storage/storedBlocks.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { ibexHere } from "./program.ts";

const CHAIN = aStoredChain({ seed: 3, blocks: 12, transactions: 20 });

let folder = "";

beforeEach(async () => {
  folder = temporaryFolder();
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data", "key"), `0x${"11".repeat(32)}`, { mode: 0o600 });
  writeFileSync(join(folder, "data", "votes.log"), "votes");
  writeFileSync(join(folder, "data", "static-nodes.json"), "[]");
  await add(0, 10);
  // Opening moves the log into a table.
  await add(10, 10);
});

/** Adds blocks of CHAIN. */
async function add(from: number, to: number): Promise<void> {
  const paths = { path: join(folder, "data/chain"), headFile: join(folder, "data/head.log") };
  const { database, headMarker, close } = await openChainDatabase(paths);
  const store = new BlockStore(BLOCK_STORE_LIMITS, { database });
  for (const block of CHAIN.slice(from, to)) {
    const batch = new Batch();
    store.put(batch, block);
    store.complete(batch, block);
    await database.write(batch);
    headMarker.record({ number: block.header.number, hash: block.hash });
  }
  await close();
}

async function ibex(data: string, ...args: readonly string[]) {
  return await ibexHere([`--data-path=${data}`, ...args], {
    workingDirectory: folder,
    awaitStop: () => ({ received: new Promise(() => undefined) }) as never,
  });
}

const backUp = (...args: readonly string[]) => ibex("data", "backup", "--to=backups", ...args);
const backups = (): readonly string[] => readdirSync(join(folder, "backups")).sort();
const newest = (): string => join(folder, "backups", expectDefined(backups().at(-1), "a backup"));
const lineOf = (output: string, name: string): string =>
  new RegExp(`^${name}: (.*)$`, "m").exec(output)?.[1] ?? "";

describe("ibex backup", () => {
  it("makes a folder that is restored to the same chain, and says which block it holds", async () => {
    const made = await backUp();
    expect(made).toMatchObject({ exitCode: 0, errors: "" });
    const head = expectDefined(CHAIN[9], "the head");
    expect(lineOf(made.output, "head number")).toBe(`${head.header.number}`);
    expect(lineOf(made.output, "head hash")).toBe(toHex(head.hash));
    const restored = await ibex("new", "backup", "restore", `--from=${newest()}`);
    expect(restored).toMatchObject({ exitCode: 0, errors: "" });
    expect(restored.output).toContain("it is silent at first");
    expect((await ibex("new", "database", "info")).output).toContain(`head hash: ${toHex(head.hash)}`);
    expect(readFileSync(join(folder, "new/static-nodes.json"), "utf8")).toBe("[]");
    // Neither what makes a validator nor what it has signed.
    expect(readdirSync(join(folder, "new")).sort()).toEqual(["chain", "static-nodes.json"]);
  });

  it("gives way to a node beside it, and a restore, which has none beside it, does not", async () => {
    let times = 0;
    const io = {
      workingDirectory: folder,
      awaitStop: () => ({ received: new Promise<string>(() => undefined) }),
      giveWay: () => times++,
    };
    const made = await ibexHere(["--data-path=data", "backup", "--to=backups"], io);
    expect([made.exitCode, times]).toEqual([0, 1]);
    const from = `--from=${lineOf(made.output, "backup")}`;
    const restored = await ibexHere(["--data-path=new", "backup", "restore", from], io);
    expect([restored.exitCode, times]).toEqual([0, 1]);
  });

  it("stores again only what has changed since the backup before", async () => {
    const first = await backUp("--with-key");
    await add(10, 12);
    const second = await backUp();
    expect(second).toMatchObject({ exitCode: 0, errors: "" });
    expect(Number(lineOf(second.output, "new bytes"))).toBeLessThan(
      Number(lineOf(second.output, "bytes")) / 2,
    );
    const [old = "", young = ""] = [lineOf(first.output, "backup"), lineOf(second.output, "backup")];
    const shared = readdirSync(join(old, "chain")).filter(
      (name) => name.endsWith(".ldb") && statSync(join(old, "chain", name)).nlink > 1,
    );
    expect(shared.length).toBeGreaterThan(0);
    // The older one still restores, with its own head and the key.
    expect(await ibex("old", "backup", "restore", `--from=${old}`)).toMatchObject({
      exitCode: 0,
      errors: "",
    });
    expect((await ibex("old", "database", "info")).output).toContain("head number: 9");
    expect(statSync(join(folder, "old/key")).mode & 0o777).toBe(0o600);
    expect(await ibex("young", "backup", "restore", `--from=${young}`)).toMatchObject({ exitCode: 0 });
    expect((await ibex("young", "database", "info")).output).toContain("head number: 11");
    expect(existsSync(join(folder, "young/key"))).toBe(false);
    for (const data of ["old", "young", "data"]) await ibex(data, "database", "info");
    expect(await ibex("again", "backup", "restore", `--from=${old}`)).toMatchObject({ exitCode: 0 });
  });

  it("keeps as many as it is told, and touches no other folder there", async () => {
    mkdirSync(join(folder, "backups/2020-01-01T00-00-00-000Z-block-5"), { recursive: true });
    mkdirSync(join(folder, "backups/mine"));
    for (let count = 0; count < 4; count++) expect(await backUp("--keep=2")).toMatchObject({ exitCode: 0 });
    expect(backups()).toHaveLength(4);
    expect(backups()).toEqual(expect.arrayContaining(["2020-01-01T00-00-00-000Z-block-5", "mine"]));
  });

  it("removes what a killed backup has left, but not what a running one uses", async () => {
    const left = ["data", "backups"].map((name) => join(folder, name, "backup-999999999.unfinished"));
    const running = join(folder, "backups", `backup-${process.ppid}.unfinished`);
    for (const path of [...left, running]) mkdirSync(path, { recursive: true });
    expect(await backUp()).toMatchObject({ exitCode: 0 });
    expect(left.map((path) => existsSync(path))).toEqual([false, false]);
    expect(existsSync(running)).toBe(true);
    expect(readdirSync(join(folder, "data")).filter((name) => name.endsWith("unfinished"))).toEqual([]);
  });

  it("copies anew what the newest backup has lost, or another one is just removing", async () => {
    await backUp();
    const tables = readdirSync(join(newest(), "chain")).filter((name) => name.endsWith(".ldb"));
    expect(tables.length).toBeGreaterThan(0);
    for (const name of tables) rmSync(join(newest(), "chain", name));
    expect(await backUp()).toMatchObject({ exitCode: 0, errors: "" });
    expect(await ibex("new", "backup", "restore", `--from=${newest()}`)).toMatchObject({ exitCode: 0 });
  });

  it.each(["options", "a configuration file"])(
    "has the key that %s name, wherever it lies",
    async (where) => {
      renameSync(join(folder, "data/key"), join(folder, "mine"));
      writeFileSync(
        join(folder, "node.toml"),
        `node-private-key-file = ${JSON.stringify(join(folder, "mine"))}\n`,
      );
      const option = where === "options" ? "--node-private-key-file=mine" : "--config-file=node.toml";
      expect(await backUp("--with-key", option)).toMatchObject({ exitCode: 0, errors: "" });
      const restored = await ibex("new", "backup", "restore", `--from=${newest()}`);
      expect(lineOf(restored.output, "key")).toBe(join(folder, "new/key"));
      expect(readFileSync(join(folder, "new/key"), "utf8")).toBe(`0x${"11".repeat(32)}`);
      expect(statSync(join(folder, "new/key")).mode & 0o777).toBe(0o600);
      const without = await backUp("--with-key");
      expect(without.exitCode).not.toBe(0);
      expect(without.errors).toContain(`There is no key file ${join(folder, "data/key")}`);
      expect(without.errors).toContain("--node-private-key-file");
    },
  );

  it("has the keystore of a node that has one, and not its password", async () => {
    const keystore = join(folder, "elsewhere.json");
    writeFileSync(keystore, "encrypted");
    writeFileSync(join(folder, "password"), "secret");
    const made = await backUp(
      ...["--with-key", `--node-keystore-file=${keystore}`, "--node-keystore-password-file=password"],
    );
    expect(made).toMatchObject({ exitCode: 0, errors: "" });
    const restored = await ibex("new", "backup", "restore", `--from=${newest()}`);
    expect(lineOf(restored.output, "key")).toBe(join(folder, "new/keystore.json"));
    expect(readFileSync(join(folder, "new/keystore.json"), "utf8")).toBe("encrypted");
    expect(readdirSync(join(folder, "new")).sort()).toEqual(["chain", "keystore.json", "static-nodes.json"]);
  });

  it("gives two backups of one moment names of their own", async () => {
    const request = {
      ...{ dataPath: join(folder, "data"), to: join(folder, "backups"), keep: 7, key: undefined },
      ...{ processId: process.pid, nowMs: () => 0, progress: new Progress({ message: "" }, silentLogger) },
      pace: { bytesPerSecond: undefined, continueOrThrow: () => undefined },
    };
    for (let count = 0; count < 3; count++) expect((await createBackup(request)).ok).toBe(true);
    expect(backups().map((name) => name.slice(17, 24))).toEqual(["00-000Z", "00-001Z", "00-002Z"]);
  });

  it("refuses a folder without a chain, damaged tables, and the data folder itself", async () => {
    expect(await ibex("empty", "backup", "--to=backups")).toMatchObject({
      exitCode: 2,
      errors: expect.stringMatching(/There is no chain in/),
    });
    expect(await ibex("data", "backup", "--to=data")).toMatchObject({ exitCode: 2 });
    const table = expectDefined(
      readdirSync(join(folder, "data/chain")).find((name) => name.endsWith(".ldb")),
      "a table",
    );
    const bytes = readFileSync(join(folder, "data/chain", table));
    bytes[10] = (bytes[10] ?? 0) ^ 1;
    writeFileSync(join(folder, "data/chain", table), bytes);
    expect(await backUp()).toMatchObject({
      exitCode: 74,
      errors: expect.stringMatching(/database is damaged, and was not copied/),
    });
    expect(backups()).toEqual([]);
  });
});

describe("ibex backup restore", () => {
  it("refuses a folder that has a chain, and leaves the vote log and the operator's files", async () => {
    await backUp();
    const from = `--from=${newest()}`;
    expect(await ibex("data", "backup", "restore", from)).toMatchObject({
      exitCode: 2,
      errors: expect.stringMatching(/already has chain.*move chain\/, caches\/ and head.log/s),
    });
    for (const name of ["chain", "head.log"]) rmSync(join(folder, "data", name), { recursive: true });
    writeFileSync(join(folder, "data/static-nodes.json"), '["mine"]');
    const restored = await ibex("data", "backup", "restore", from);
    expect(restored).toMatchObject({ exitCode: 0, errors: "" });
    expect(restored.output).toMatch(/left as it was: static-nodes.json\nThe vote log of this folder stays/);
    expect(readFileSync(join(folder, "data/votes.log"), "utf8")).toBe("votes");
    expect(readFileSync(join(folder, "data/static-nodes.json"), "utf8")).toBe('["mine"]');
  });

  it.each<[what: string, change: (backup: string) => void, exitCode: number, message: RegExp]>([
    ["no list", (backup) => rmSync(join(backup, "backup.json")), 2, /is not a complete backup/],
    [
      "a list of another form",
      (backup) => writeFileSync(join(backup, "backup.json"), "{}"),
      2,
      /not the list/,
    ],
    [
      "a list that leads elsewhere",
      (backup) => {
        const path = join(backup, "backup.json");
        writeFileSync(path, readFileSync(path, "utf8").replace("static-nodes.json", "../../evil"));
      },
      2,
      /not the list/,
    ],
    [
      "a missing file",
      (backup) => rmSync(join(backup, "chain/CURRENT")),
      74,
      /CURRENT of the backup is missing/,
    ],
    [
      "a changed file",
      (backup) => appendFileSync(join(backup, "static-nodes.json"), " "),
      74,
      /has changed since it was backed up/,
    ],
    [
      "another head",
      (backup) => {
        const path = join(backup, "backup.json");
        writeFileSync(path, readFileSync(path, "utf8").replace(/"hash":"0x../, '"hash":"0x00'));
      },
      74,
      /does not contain the block that its list names/,
    ],
  ])("refuses a backup with %s, and leaves no chain", async (_, change, exitCode, message) => {
    await backUp();
    for (const name of readdirSync(newest())) chmodSync(join(newest(), name), 0o755);
    change(newest());
    const answer = await ibex("new", "backup", "restore", `--from=${newest()}`);
    expect(answer).toMatchObject({ exitCode, errors: expect.stringMatching(message) });
    expect(existsSync(join(folder, "new")) ? readdirSync(join(folder, "new")) : []).toEqual([]);
  });

  it("reads no pipe or device in place of a file, and nothing of a size that was not listed", async () => {
    await backUp();
    const manifest = join(
      newest(),
      "chain",
      expectDefined(
        readdirSync(join(newest(), "chain")).find((name) => name.startsWith("MANIFEST")),
        "a manifest",
      ),
    );
    const contents = readFileSync(manifest);
    rmSync(manifest);
    execFileSync("mkfifo", [manifest]);
    // The pipe gives just what was backed up.
    writeFileSync(join(folder, "contents"), contents);
    const writer = spawn("sh", ["-c", `cat ${join(folder, "contents")} > ${manifest}`]);
    onTestFinished(() => void writer.kill());
    const restored = await ibex("new", "backup", "restore", `--from=${newest()}`);
    expect(restored).toMatchObject({
      exitCode: 74,
      errors: expect.stringContaining("has changed since it was backed up"),
    });
    expect(readdirSync(join(folder, "new"))).toEqual([]);
  });

  it("copies nothing to a disk that has not the room", async () => {
    await backUp();
    const path = join(newest(), "backup.json");
    const list = JSON.parse(readFileSync(path, "utf8")) as { files: unknown[] };
    const huge = { bytes: 1024 ** 3, crc32: 0 };
    for (let table = 100_000; table < 120_000; table++)
      list.files.push({ ...huge, path: `chain/${table}.ldb` });
    writeFileSync(path, JSON.stringify(list));
    const restored = await ibex("new", "backup", "restore", `--from=${newest()}`);
    expect(restored).toMatchObject({
      exitCode: 74,
      errors: expect.stringContaining("There is too little room in"),
    });
    expect(readdirSync(join(folder, "new"))).toEqual([]);
  });
});
