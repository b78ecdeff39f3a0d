import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { EXIT } from "../../src/cli/exitCodes.ts";
import { asAddress } from "../../src/primitives/address.ts";
import { Batch } from "../../src/storage/batch.ts";
import { type HistoryStart, putHistoryStart } from "../../src/storage/historyStart.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { blockFileOf, sealedDevBlocks } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { ibexHere } from "./program.ts";

/** Blocks 0 to 5 of the development network; blocks 2 and 4 have transactions. */
let blocks: readonly Uint8Array[] = [];

beforeAll(async () => {
  const transfer = (nonce: bigint) => aTransaction({ nonce, to: account(3).address, gasPrice: 1000n });
  blocks = await sealedDevBlocks([[], [transfer(0n), transfer(1n)], [], [transfer(2n)], []]);
});

function aFolderWith(files: Readonly<Record<string, Uint8Array>>): string {
  const folder = temporaryFolder();
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return folder;
}

function ibexIn(folder: string, ...args: readonly string[]) {
  const awaitStop = () => ({ received: new Promise<string>(() => undefined) });
  return ibexHere(["--data-path=data", "--logging=OFF", ...args], { workingDirectory: folder, awaitStop });
}

async function beginHistory(folder: string, start: HistoryStart): Promise<void> {
  const database = await openLevelDatabase({ path: join(folder, "data", "chain") });
  const batch = new Batch();
  putHistoryStart(batch, start);
  await database.write(batch);
  await database.close();
}

async function headOf(folder: string): Promise<string | undefined> {
  const { output } = await ibexIn(folder, "database", "info");
  return /^head number: (.*)$/m.exec(output)?.[1];
}

/** Offset of a block in the file of all blocks. */
function offsetOf(number: number): number {
  return blocks.slice(0, number).reduce((sum, { length }) => sum + length, 0);
}

describe("ibex blocks", () => {
  it("imports files in their order and exports the same bytes, whole and in ranges", async () => {
    const folder = aFolderWith({
      first: blockFileOf(blocks.slice(0, 3)),
      second: blockFileOf(blocks.slice(3)),
    });
    const imported = await ibexIn(folder, "blocks", "import", "--from=first", "second");
    expect(imported).toMatchObject({ exitCode: 0, errors: "" });
    expect(await headOf(folder)).toBe("5");
    expect(await ibexIn(folder, "blocks", "export", "--to=whole")).toMatchObject({ exitCode: 0, errors: "" });
    expect(readFileSync(join(folder, "whole"))).toEqual(Buffer.from(blockFileOf(blocks)));
    await ibexIn(folder, "blocks", "export", "--to=part", "--end-block=2");
    await ibexIn(folder, "blocks", "export", "--to=part", "--start-block=2", "--end-block=4");
    expect(readFileSync(join(folder, "part"))).toEqual(Buffer.from(blockFileOf(blocks.slice(0, 4))));
    await ibexIn(folder, "blocks", "export", "--to=part", "--end-block=1000000");
    expect(readFileSync(join(folder, "part"))).toEqual(Buffer.from(blockFileOf(blocks)));
    expect((await ibexIn(folder, "database", "check")).output).toContain("The database is sound.");
  });

  it("exports what is left of a chain whose old blocks were removed, and refuses the rest by name", async () => {
    const folder = aFolderWith({ all: blockFileOf(blocks) });
    await ibexIn(folder, "blocks", "import", "all");
    const exportOf = (...options: readonly string[]) =>
      ibexIn(folder, "blocks", "export", "--to=rest", ...options);
    await beginHistory(folder, { headers: 0n, blocks: 3n, states: 4n });
    expect(await exportOf()).toMatchObject({
      exitCode: 1,
      errors:
        "This node has no whole blocks before block 3: the snapshot that it was made from lacks them, or --block-history removed them. " +
        "Give --start-block=3.\n",
    });
    expect(await exportOf("--start-block=2", "--end-block=5")).toMatchObject({ exitCode: 1 });
    expect(await exportOf("--start-block=3")).toMatchObject({ exitCode: 0, errors: "" });
    expect(readFileSync(join(folder, "rest"))).toEqual(Buffer.from(blockFileOf(blocks.slice(3))));
  });

  it("imports a range, skips known blocks, and continues", async () => {
    const folder = aFolderWith({ all: blockFileOf(blocks) });
    await ibexIn(folder, "blocks", "import", "all", "--end-block=3");
    expect(await headOf(folder)).toBe("2");
    await ibexIn(folder, "blocks", "import", "all", "--start-block=3", "--end-block=5", "--format=rlp");
    expect(await headOf(folder)).toBe("4");
    expect(
      (await ibexIn(folder, "blocks", "import", "all", "all", "--skip-pow-validation-enabled")).exitCode,
    ).toBe(0);
    expect(await headOf(folder)).toBe("5");
  });

  it("refuses blocks that do not follow the head, and keeps the chain", async () => {
    const folder = aFolderWith({ all: blockFileOf(blocks) });
    const gap = await ibexIn(folder, "blocks", "import", "all", "--start-block=3");
    expect(gap).toEqual({
      exitCode: 1,
      output: "",
      errors: `all, byte ${offsetOf(3)}: block 3 does not follow block 0.\n`,
    });
    expect(await headOf(folder)).toBe("0");
  });

  it("stops at an invalid block with offset, number, hash and reason, and keeps the blocks before it", async () => {
    const spoiled = blockFileOf(blocks);
    // The last byte of block 4's seal, before its body: three lists of transaction and ommers follow.
    const seal = Buffer.from(spoiled).indexOf(Buffer.from("b841", "hex"), offsetOf(4)) + 2;
    spoiled[seal] = (spoiled[seal] ?? 0) ^ 1;
    const folder = aFolderWith({ spoiled });
    const { exitCode, errors } = await ibexIn(folder, "blocks", "import", "spoiled");
    expect(exitCode).toBe(1);
    expect(errors).toMatch(
      new RegExp(
        `^spoiled, byte ${offsetOf(4)}: block 4 \\(0x[0-9a-f]{64}\\) is refused: .*seal.*\\. The chain ends with block 3\\.\\n$`,
      ),
    );
    expect(await headOf(folder)).toBe("3");
    expect((await ibexIn(folder, "database", "check")).exitCode).toBe(0);
  });

  it.each([
    ["cut in the middle of block 4", (whole: Uint8Array) => whole.subarray(0, offsetOf(4) + 100), 4],
    ["cut after one byte of block 4", (whole: Uint8Array) => whole.subarray(0, offsetOf(4) + 1), 4],
    ["with garbage after block 5", (whole: Uint8Array) => Buffer.concat([whole, Buffer.from("what?")]), 6],
    [
      "with a list that is not a block",
      (whole: Uint8Array) => Buffer.concat([whole, Buffer.from("c20102", "hex")]),
      6,
    ],
    [
      "with a length above the limit",
      (whole: Uint8Array) => Buffer.concat([whole, Buffer.from("ffffffffffffffffff", "hex")]),
      6,
    ],
  ])("imports the blocks of a file %s up to that point", async (_, spoil, badBlock) => {
    const folder = aFolderWith({ file: spoil(blockFileOf(blocks)) });
    const { exitCode, errors } = await ibexIn(folder, "blocks", "import", "file");
    expect(exitCode).toBe(1);
    expect(errors).toMatch(new RegExp(`^file, byte ${offsetOf(badBlock)}: .*\\.\\n$`));
    expect(await headOf(folder)).toBe(String(badBlock - 1));
  });

  it("refuses another chain's file, and a block that differs from a known one", async () => {
    const other = await sealedDevBlocks([[aTransaction({ value: 5n, to: asAddress(new Uint8Array(20)) })]]);
    const otherChain = blocks.map((block) => Uint8Array.from(block));
    // Another state root makes block 0 the genesis block of another chain.
    if (otherChain[0] !== undefined) otherChain[0][100] = (otherChain[0][100] ?? 0) ^ 1;
    const folder = aFolderWith({
      all: blockFileOf(blocks),
      other: blockFileOf(other),
      strange: blockFileOf(otherChain),
    });
    const genesis = await ibexIn(folder, "blocks", "import", "strange");
    expect(genesis.exitCode).toBe(1);
    expect(genesis.errors).toMatch(
      /^The file strange contains another chain: its genesis block is 0x[0-9a-f]{64}, that of this network is 0x[0-9a-f]{64}\.\n$/,
    );
    await ibexIn(folder, "blocks", "import", "all");
    const fork = await ibexIn(folder, "blocks", "import", "other");
    expect(fork.exitCode).toBe(1);
    expect(fork.errors).toMatch(
      /^other, byte \d+: block 1 is 0x[0-9a-f]{64}, but the chain has 0x[0-9a-f]{64} there already\.\n$/,
    );
    expect(await headOf(folder)).toBe("5");
  });

  it.each<[readonly string[], number, RegExp]>([
    [["import"], 2, /^No files specified to import\.\n/],
    [["import", "absent"], 1, /^The file absent cannot be read\.\n/],
    [["import", "all", "--format=JSON"], 2, /^--format=JSON is not supported: /],
    [
      ["import", "all", "--format=XML"],
      2,
      /^Invalid value for option '--format': expected one of \[RLP, JSON\]/,
    ],
    [
      ["import", "all", "--start-block=-1"],
      2,
      /^Invalid value for option '--start-block': '-1' is below 0\n/,
    ],
    [
      ["import", "all", "--start-block=5", "--end-block=5"],
      2,
      /^Parameter --end-block \(5\) must be greater start block \(5\)\.\n/,
    ],
    [["export"], 2, /^Missing required option: '--to=<FILE>'\n/],
    [["export", "--to=x", "--format=JSON"], 2, /^--format=JSON is not supported: /],
    [
      ["export", "--to=x"],
      2,
      /^Chain is empty. {2}Unable to export blocks from specified data directory: .*\/data\n/,
    ],
  ])("blocks %j ends with %i", async (args, exitCode, message) => {
    const folder = aFolderWith({ all: blockFileOf(blocks) });
    const refused = await ibexIn(folder, "blocks", ...args);
    expect(refused.exitCode).toBe(exitCode);
    expect(refused.errors).toMatch(message);
    expect(existsSync(join(folder, "x"))).toBe(false);
    // Nor is a key or a folder made.
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  it("refuses to export above the head, or to an unwritable path", async () => {
    const folder = aFolderWith({ all: blockFileOf(blocks) });
    await ibexIn(folder, "blocks", "import", "all");
    const above = await ibexIn(folder, "blocks", "export", "--to=x", "--start-block=6");
    expect(above).toMatchObject({ exitCode: 1, errors: "Block 6 is above the newest block, 5.\n" });
    const nowhere = await ibexIn(folder, "blocks", "export", "--to=absent/x");
    expect(nowhere.exitCode).toBe(2);
    expect(nowhere.errors).toMatch(/^The file absent\/x cannot be written: ENOENT/);
  });

  it("refuses the folder of a running node, and that of another network", async () => {
    const folder = aFolderWith({ all: blockFileOf(blocks) });
    await ibexIn(folder, "blocks", "import", "all");
    const open = await openLevelDatabase({ path: join(folder, "data", "chain") });
    for (const args of [
      ["import", "all"],
      ["export", "--to=x"],
    ]) {
      const { exitCode, errors } = await ibexIn(folder, "blocks", ...args);
      expect(exitCode).toBe(EXIT.badInput);
      expect(errors).toMatch(/Another node is using this data folder/);
    }
    await open.close();
    const mainnet = join(import.meta.dirname, "..", "..", "genesis", "mainnet.json");
    const other = await ibexIn(folder, `--genesis-file=${mainnet}`, "blocks", "import", "all");
    expect(other.exitCode).toBe(2);
    expect(other.errors).toMatch(
      /^The genesis file .*mainnet\.json does not match the chain stored in .*\/data: /,
    );
  });

  it("stops on a signal, keeps its blocks, and continues when run again", async () => {
    const folder = aFolderWith({ all: blockFileOf(blocks) });
    const args = ["--data-path=data", "--logging=OFF", "blocks", "import", "all"];
    const awaitStop = () => ({ received: Promise.resolve("SIGTERM") });
    const stopped = await ibexHere(args, { workingDirectory: folder, awaitStop });
    expect(stopped).toMatchObject({ exitCode: 1, errors: "" });
    expect(await headOf(folder)).toBe("0");
    expect((await ibexIn(folder, "blocks", "import", "all")).exitCode).toBe(0);
    expect(await headOf(folder)).toBe("5");
  });

  it("names the file when an export fills the disk", async () => {
    if (!existsSync("/dev/full")) return;
    const folder = aFolderWith({ all: blockFileOf(blocks) });
    await ibexIn(folder, "blocks", "import", "all");
    const { exitCode, errors } = await ibexIn(folder, "blocks", "export", "--to=/dev/full");
    expect(exitCode).toBe(EXIT.disk);
    expect(errors).toMatch(/^The file \/dev\/full cannot be written: ENOSPC/);
  });
});
