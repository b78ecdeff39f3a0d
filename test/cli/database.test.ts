import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CheckProgress } from "../../src/cli/checkProgress.ts";
import { PrintedOutput } from "../../src/cli/printedOutput.ts";
import { Batch } from "../../src/storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../src/storage/blocks/blockStore.ts";
import { openChainDatabase } from "../../src/storage/chainDatabase.ts";
import { bodyKey, headerKey } from "../../src/storage/keys.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { putPrunedSchema } from "../../src/storage/schema.ts";
import { stateRecordKey } from "../../src/storage/stateKeys.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { blockFileOf, sealedDevBlocks } from "../builders/sealedChain.ts";
import { aStoredChain } from "../storage/storedBlocks.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { ibexHere } from "./program.ts";

const chain = aStoredChain({ seed: 5, blocks: 4, transactions: 2 });

describe("ibex database", () => {
  it("reports a sound database as sound, and shows its newest block", async () => {
    const dataPath = await anImportedChain();
    const check = await ibex("database", "check", `--data-path=${dataPath}`);
    expect(check.exitCode).toBe(0);
    expect(check.output.split("\n").slice(1)).toEqual([
      "Checking every entry",
      "Checking 5 blocks",
      "Checking that 5 blocks have their states",
      "Checking the states of all blocks",
      "The database is sound.",
      "",
    ]);
    const info = await ibex(`--data-path=${dataPath}`, "database", "info");
    expect(info.exitCode).toBe(0);
    expect(info.output).toContain("schema version: 1\nhead number: 4\n");
    expect(info.output).toMatch(/^head hash: 0x[0-9a-f]{64}$/m);
    expect(Number(/^bytes on disk: (\d+)$/m.exec(info.output)?.[1])).toBeGreaterThan(1000);
  });

  it("says of a pruned database that versions which cannot prune refuse it", async () => {
    const dataPath = await anImportedChain();
    const database = await openLevelDatabase({ path: join(dataPath, "chain") });
    const batch = new Batch();
    putPrunedSchema(batch);
    await database.write(batch);
    await database.close();
    const { exitCode, output } = await ibex("database", "info", `--data-path=${dataPath}`);
    expect(exitCode).toBe(0);
    expect(output).toContain(
      "schema version: 1, pruned: versions of Ibex without --state-history and --block-history refuse it\n",
    );
  });

  it("names the blocks that lack their states, as a range or alone", async () => {
    const without = await ibex("database", "check", "--data-path", await aDataFolder());
    expect(without.exitCode).toBe(74);
    expect(without.output).toContain("Damage: Blocks 0 to 4 lack their states.\n");
    const dataPath = await anImportedChain();
    const database = await openLevelDatabase({ path: join(dataPath, "chain") });
    const batch = new Batch();
    batch.delete(stateRecordKey(2));
    await database.write(batch);
    await database.close();
    const { exitCode, output } = await ibex("database", "check", "--data-path", dataPath);
    expect(exitCode).toBe(74);
    expect(output).toContain("Damage: Block 2 lacks its state.\n");
  });

  it.each([
    { total: 2000, more: 1, counted: undefined, speed: 50 },
    { total: 3, more: 3 / 2000, counted: 5, speed: 250 },
  ])("prints its progress in percent, speed and time left every ten seconds, of $total", (step) => {
    const { total, more, counted, speed } = step;
    let output = "";
    let nowMs = 0;
    const print = (text: string): void => {
      output += text;
    };
    const io = { isTerminal: false, environment: {}, print };
    const progress = new CheckProgress(new PrintedOutput(io), () => nowMs);
    progress.begin("Checking", total, "blocks");
    for (let steps = 0; steps < 2000; steps++) {
      nowMs += 20;
      progress.advance(more, counted);
    }
    expect(output.split("\n")).toEqual([
      "Checking",
      `  25 %, ${speed} blocks/s, about 30 s left`,
      `  50 %, ${speed} blocks/s, about 20 s left`,
      `  75 %, ${speed} blocks/s, about 10 s left`,
      "",
    ]);
  });

  it("adds a summary to a line of progress", () => {
    let output = "";
    const print = (text: string): void => {
      output += text;
    };
    const io = { isTerminal: false, environment: {}, print };
    const summary = "3 blocks, 1 different";
    new PrintedOutput(io).info({ percent: 25, summary, blocksPerSecond: 50 }, "comparing blocks 0 to 11");
    expect(output).toBe("comparing blocks 0 to 11: 25 %, 50 blocks/s: 3 blocks, 1 different\n");
  });

  it("names a damaged entry far below the head, prints the remedy once, and exits with 74", async () => {
    const dataPath = await aDataFolder();
    const database = await openLevelDatabase({ path: join(dataPath, "chain") });
    const batch = new Batch();
    batch.delete(bodyKey(2n, 0));
    await database.write(batch);
    await database.close();
    const { exitCode, output } = await ibex("database", "check", "--data-path", dataPath);
    expect(exitCode).toBe(74);
    expect(output).toMatch(/^Damage: .*block 2\b/im);
    expect(output.match(/restore a backup/g)).toHaveLength(1);
  });

  it("does not check the contents of damaged files", async () => {
    const dataPath = await aDataFolder();
    writeFileSync(join(dataPath, "chain", "CURRENT"), "nonsense");
    const { exitCode, output } = await ibex("database", "check", "--data-path", dataPath);
    expect(exitCode).toBe(74);
    expect(output).toContain("does not name a manifest of the folder");
    expect(output).toContain("The contents of the files were not checked");
    expect(readFileSync(join(dataPath, "chain", "CURRENT"), "utf8")).toBe("nonsense");
  });

  it("reports a lost end of the chain", async () => {
    const dataPath = await aDataFolder();
    const shorter = await aDataFolder(chain.slice(0, 3));
    writeFileSync(join(shorter, "head.log"), readFileSync(join(dataPath, "head.log")));
    const { exitCode, output } = await ibex("database", "check", "--data-path", shorter);
    expect(exitCode).toBe(74);
    expect(output).toContain("Damage: The database has lost its end: block 4");
  });

  it("excuses the lost end of a folder that is marked for development, but no damage of its newest block", async () => {
    const dataPath = await aDataFolder(chain.slice(0, 3));
    const longer = await aDataFolder();
    writeFileSync(join(dataPath, "head.log"), readFileSync(join(longer, "head.log")));
    writeFileSync(join(dataPath, "development.json"), "{}");
    const excused = await ibex("database", "check", "--data-path", dataPath);
    expect(excused.output).toContain("lost its end: block 4");
    expect(excused.output).toContain("The newest blocks of such a chain are not synced");
    expect(excused.output).not.toContain("Damage: The database has lost its end");
    const database = await openLevelDatabase({ path: join(longer, "chain") });
    const batch = new Batch();
    batch.put(headerKey(4n), new Uint8Array(80));
    await database.write(batch);
    await database.close();
    writeFileSync(join(longer, "development.json"), "{}");
    const { exitCode, output } = await ibex("database", "check", "--data-path", longer);
    expect(exitCode).toBe(74);
    expect(output).toMatch(/^Damage: .*block 4\b/im);
    expect(output).not.toContain("are not synced");
  });

  it("names the mildest cure of a cut last block, which is one, and that of other damage beside it", async () => {
    const dataPath = await anImportedChain();
    const folder = join(dataPath, "chain");
    for (const name of readdirSync(folder).filter((each) => each.endsWith(".log")))
      truncateSync(join(folder, name), Math.max(0, statSync(join(folder, name)).size - 7));
    const cut = await ibex("database", "check", "--data-path", dataPath);
    expect(cut.exitCode).toBe(74);
    expect(cut.output).toContain("Damage: The database has lost its end: block 4");
    expect(cut.output).toMatch(
      /1 damage found. With the node stopped, delete only head.log .*A sole validator must not/,
    );
    const start = openChainDatabase({ path: folder, headFile: join(dataPath, "head.log") });
    await expect(start).rejects.toThrow("Stop the node and delete only head.log");
    rmSync(join(dataPath, "head.log"));
    const cured = await ibex("database", "check", "--data-path", dataPath);
    expect(cured.output).toContain("The database is sound.");
    expect((await ibex("database", "info", "--data-path", dataPath)).output).toMatch(/head number: [0-3]\n/);
    // Where more is damaged, what is left is not to be gone on with.
    const other = await aDataFolder();
    const shorter = await aDataFolder(chain.slice(0, 3));
    writeFileSync(join(shorter, "head.log"), readFileSync(join(other, "head.log")));
    const both = await ibex("database", "check", "--data-path", shorter);
    expect(both.output).toMatch(/With the node stopped, delete chain\/, caches\/ and head.log/);
    expect(both.output).not.toContain("only head.log");
  });

  it("refuses the database of a running node", async () => {
    const dataPath = await aDataFolder();
    const open = await openLevelDatabase({ path: join(dataPath, "chain") });
    for (const word of ["check", "info"]) {
      const { exitCode, output } = await ibex("database", word, "--data-path", dataPath);
      expect(exitCode).toBe(2);
      expect(output).toMatch(/Another node is using this data folder/);
    }
    await open.close();
  });

  it("creates no database where there is none", async () => {
    const dataPath = join(temporaryFolder(), "absent");
    const { exitCode, errors } = await ibex("database", "check", "--data-path", dataPath);
    expect(exitCode).toBe(2);
    expect(errors).toContain(`There is no database in ${dataPath}.`);
    expect(existsSync(dataPath)).toBe(false);
  });

  it("requires the second word", async () => {
    const { exitCode, errors } = await ibex("database");
    expect(exitCode).toBe(2);
    expect(errors).toMatch(/^Missing required subcommand: one of check, info, migrate\n/);
  });
});

/** Blocks 0 to 4 of the development network with receipts and states. */
async function anImportedChain(): Promise<string> {
  const folder = temporaryFolder();
  const blocks = await sealedDevBlocks([[aTransaction()], [], [aTransaction({ nonce: 1n })], []]);
  writeFileSync(join(folder, "blocks"), blockFileOf(blocks));
  const awaitStop = () => ({ received: new Promise<string>(() => undefined) });
  const args = ["--data-path=data", "--logging=OFF", "blocks", "import", "blocks"];
  expect((await ibexHere(args, { workingDirectory: folder, awaitStop })).exitCode).toBe(0);
  return join(folder, "data");
}

async function aDataFolder(blocks = chain): Promise<string> {
  const dataPath = temporaryFolder();
  const stored = await openChainDatabase({
    path: join(dataPath, "chain"),
    headFile: join(dataPath, "head.log"),
  });
  const store = new BlockStore(BLOCK_STORE_LIMITS, { database: stored.database });
  for (const block of blocks) {
    const batch = new Batch();
    store.put(batch, block);
    store.complete(batch, block);
    await stored.database.write(batch);
    stored.headMarker.record({ number: block.header.number, hash: block.hash });
  }
  await stored.close();
  return dataPath;
}

function ibex(...args: string[]) {
  return ibexHere(args);
}
