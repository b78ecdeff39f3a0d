import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { SNAPSHOT_VERSION } from "../../src/cli/snapshot/snapshotFile.ts";
import type { VoteTally } from "../../src/ibft/validatorVotes.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { Batch } from "../../src/storage/batch.ts";
import { putHistoryStart } from "../../src/storage/historyStart.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { putUnfinishedImport } from "../../src/storage/schema.ts";
import { aChain } from "../builders/aChain.ts";
import { type EpochChain, epochChain } from "../builders/epochChain.ts";
import { blockFileOf } from "../builders/sealedChain.ts";
import { account } from "../builders/testAccounts.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { casesOf, IS_THOROUGH, itIfThorough } from "../thorough.ts";
import { ibexHere } from "./program.ts";

/** The last epoch block with 256 blocks after it is 20, so blocks 1 to 19 are missing from a snapshot. */
const FIRST_HEADER = 20;
const HEAD = 290;
const MORE = 4;

/** Becomes the second validator, with a vote in block 30. */
const SECOND = account(2);
/** One of the two validators votes for it in the last epoch. */
const WANTED = account(5).address;

let made: EpochChain;
let blocks: readonly Uint8Array[] = [];
let hashes: readonly string[] = [];
/** A folder with the genesis file, the chain up to HEAD in `data`, and the snapshot of HEAD. */
let origin = "";
let snapshot: Uint8Array = new Uint8Array(0);

beforeAll(async () => {
  made = await epochChain({
    head: HEAD + MORE,
    busyFrom: HEAD,
    votesIn: (number) =>
      number === 30
        ? { recipient: SECOND.address, kind: "add" }
        : number === 285
          ? { recipient: WANTED, kind: "add" }
          : undefined,
    sealersOf: (number) => (number > 30 ? [SECOND.privateKey] : []),
  });
  ({ blocks, hashes } = made);
  origin = mkdtempSync(join(tmpdir(), "ibex-snapshot-"));
  writeFileSync(join(origin, "genesis.json"), made.genesis);
  writeFileSync(join(origin, "chain.rlp"), blockFileOf(blocks.slice(0, HEAD + 1)));
  expect(await ibexIn(origin, "blocks", "import", "chain.rlp")).toMatchObject({ exitCode: 0, errors: "" });
  const exported = await ibexIn(origin, "snapshot", "export", "--to=snapshot");
  expect(exported).toEqual({
    exitCode: 0,
    errors: "",
    output: `block: ${HEAD}\nblock hash: ${hashes[HEAD]}\n`,
  });
  snapshot = readFileSync(join(origin, "snapshot"));
});

function aFolder(files: Readonly<Record<string, Uint8Array>> = {}): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "genesis.json"), made.genesis);
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return folder;
}

function ibexIn(folder: string, ...args: readonly string[]) {
  return ibexWith(folder, new Promise(() => undefined), ...args);
}

function ibexWith(folder: string, received: Promise<string>, ...args: readonly string[]) {
  const options = ["--data-path=data", "--genesis-file=genesis.json", "--logging=OFF"];
  const isWithoutGenesis = args[0] === "database";
  return ibexHere(
    [...options.filter((each) => !isWithoutGenesis || !each.startsWith("--genesis")), ...args],
    {
      workingDirectory: folder,
      awaitStop: () => ({ received }),
    },
  );
}

/** Validators and outstanding votes after the head, derived from what is stored. */
async function tallyIn(folder: string): Promise<VoteTally> {
  const path = join(folder, "data", "chain");
  const database = await openLevelDatabase({ path });
  const { chain } = await aChain({ genesis: made.genesis, database });
  const tally = chain.tallyAfter(chain.head);
  await database.close();
  expect(tally.validators.length).toBe(2);
  expect(tally.outstanding.map(({ recipient }) => toHex(recipient))).toEqual([toHex(WANTED)]);
  return tally;
}

const importInto = (folder: string, hash = hashes[HEAD]) =>
  ibexIn(folder, "snapshot", "import", "--from=snapshot", `--block-hash=${hash}`);

describe("ibex snapshot", () => {
  it("makes a chain that is sound, exports the same snapshot again, and continues", async () => {
    const folder = aFolder({ snapshot });
    expect(await importInto(folder)).toEqual({ exitCode: 0, output: "", errors: "" });
    const { output } = await ibexIn(folder, "database", "info");
    expect(output).toContain(`head hash: ${hashes[HEAD]}\n`);
    expect(output).toContain(`history begins: with block ${HEAD}, headers with ${FIRST_HEADER}\n`);
    expect((await ibexIn(folder, "database", "check")).output).toContain("The database is sound.");
    expect(await tallyIn(folder)).toEqual(await tallyIn(origin));
    await ibexIn(folder, "snapshot", "export", "--to=again", `--block=${HEAD}`);
    expect(Buffer.compare(readFileSync(join(folder, "again")), snapshot)).toBe(0);
    expect(existsSync(join(folder, "again.part"))).toBe(false);

    writeFileSync(join(folder, "more.rlp"), blockFileOf(blocks.slice(HEAD + 1)));
    expect(await ibexIn(folder, "blocks", "import", "more.rlp")).toMatchObject({ exitCode: 0, errors: "" });
    expect((await ibexIn(folder, "database", "check")).output).toContain("The database is sound.");
    // A snapshot of a chain that came from a snapshot.
    await ibexIn(folder, "snapshot", "export", "--to=later");
    const third = aFolder({ snapshot: readFileSync(join(folder, "later")) });
    expect(await importInto(third, hashes[HEAD + MORE])).toMatchObject({ exitCode: 0, errors: "" });
  });

  it("is refused by the exit code 2 where what was given does not fit", async () => {
    const folder = aFolder({ snapshot });
    const otherHash = await importInto(folder, hashes[HEAD - 1]);
    expect(otherHash.exitCode).toBe(2);
    expect(otherHash.errors).toContain(`is of block ${HEAD} ${hashes[HEAD]}, but --block-hash says`);
    const text = await importInto(folder, "0x12");
    expect([text.exitCode, text.errors]).toEqual([2, expect.stringContaining("'0x12' is not a hash")]);
    const missing = await ibexIn(folder, "snapshot", "import");
    expect(missing.errors).toContain("Missing required options: '--from=<FILE>', '--block-hash=<HASH>'");
    const changed = JSON.parse(made.genesis);
    changed.config.chainId = 4711;
    writeFileSync(join(folder, "genesis.json"), JSON.stringify(changed));
    const otherChain = await importInto(folder);
    expect([otherChain.exitCode, otherChain.errors]).toEqual([
      2,
      expect.stringContaining("is of another chain"),
    ]);
    // Nothing was begun.
    expect(existsSync(join(folder, "data", "chain"))).toBe(false);

    const used = await ibexIn(
      origin,
      "snapshot",
      "import",
      "--from=snapshot",
      `--block-hash=${hashes[HEAD]}`,
    );
    expect([used.exitCode, used.errors]).toEqual([2, expect.stringContaining("already has a chain")]);
    const withMark = aFolder({ snapshot });
    mkdirSync(join(withMark, "data"));
    copyFileSync(join(origin, "data", "head.log"), join(withMark, "data", "head.log"));
    const marked = await importInto(withMark);
    expect([marked.exitCode, marked.errors]).toEqual([2, expect.stringContaining("has the file head.log")]);
  });

  it("refuses what no snapshot can be exported of", async () => {
    const early = await ibexIn(origin, "snapshot", "export", "--to=none", "--block=1");
    expect([early.exitCode, early.errors]).toEqual([1, expect.stringContaining("would save nothing")]);
    const late = await ibexIn(origin, "snapshot", "export", "--to=none", `--block=${HEAD + 1}`);
    expect([late.exitCode, late.errors]).toEqual([
      1,
      `This node does not have the state of block ${HEAD + 1}: it does not have the block yet.\n`,
    ]);
    const empty = await ibexIn(aFolder(), "snapshot", "export", "--to=none");
    expect([empty.exitCode, empty.errors]).toEqual([
      2,
      expect.stringContaining("There is no chain to export"),
    ]);
    const folder = aFolder({ snapshot });
    await importInto(folder);
    const below = await ibexIn(folder, "snapshot", "export", "--to=none", `--block=${HEAD - 1}`);
    expect(below.errors).toBe(
      `This node does not have the state of block ${HEAD - 1}: it has those from block ${HEAD} on.\n`,
    );
    expect(existsSync(join(origin, "none"))).toBe(false);
    const pruned = aFolder();
    cpSync(join(origin, "data"), join(pruned, "data"), { recursive: true });
    await beginStates(pruned, BigInt(HEAD));
    const removed = await ibexIn(pruned, "snapshot", "export", "--to=none", `--block=${HEAD - 1}`);
    expect([removed.exitCode, removed.errors]).toEqual([
      1,
      `This node does not have the state of block ${HEAD - 1}: it has those from block ${HEAD} on.\n`,
    ]);
    expect(await ibexIn(pruned, "snapshot", "export", "--to=own")).toMatchObject({ exitCode: 0, errors: "" });
    expect(readFileSync(join(pruned, "own")).equals(snapshot)).toBe(true);
  });

  it("refuses a file that is cut off anywhere, with the place, and leaves no chain", async () => {
    const parts = partsOf(snapshot);
    expect(parts.map(({ kind }) => kind)).toEqual([1, 2, 2, 3, 4, 5, 6]);
    const cuts = parts.flatMap(({ from, until }) =>
      IS_THOROUGH ? [from, from + 3, until - 1] : [until - 1],
    );
    for (const cut of cuts) {
      const folder = aFolder({ snapshot: snapshot.subarray(0, cut) });
      const refused = await importInto(folder);
      const { from } = expectDefined(
        parts.findLast((part) => part.from <= cut),
        "the part that is cut",
      );
      expect(refused).toMatchObject({ exitCode: 1, output: "" });
      expect(refused.errors).toContain(`the part that begins at byte ${from} is not complete`);
      expect(existsSync(join(folder, "data", "chain"))).toBe(false);
    }
    const longer = await importInto(aFolder({ snapshot: Buffer.concat([snapshot, Uint8Array.of(0)]) }));
    expect(longer.errors).toContain("but the file continues");
  });

  it("refuses a file with any byte changed", async () => {
    const parts = partsOf(snapshot);
    for (let seed = 0; seed < casesOf(45); seed++) {
      const random = createHash("sha256").update(`flip ${seed}`).digest();
      const at = 12 + (random.readUInt32BE(0) % (snapshot.length - 12));
      const spoilt = Uint8Array.from(snapshot);
      spoilt[at] = (spoilt[at] ?? 0) ^ (1 << (random.readUInt8(4) % 8));
      const refused = await importInto(aFolder({ snapshot: spoilt }));
      const { from } = expectDefined(
        parts.findLast((part) => part.from <= at),
        "the part",
      );
      expect([seed, refused.exitCode]).toEqual([seed, 1]);
      expect(refused.errors).toMatch(new RegExp(`begins at byte ${from} is (damaged|not complete)`));
    }
  });

  itIfThorough("refuses a file that was changed and given right checksums", async () => {
    for (const { kind, from, until } of partsOf(snapshot)) {
      for (let seed = 0; seed < casesOf(5); seed++) {
        const random = createHash("sha256").update(`forge ${kind} ${seed}`).digest();
        const at = from + 5 + (random.readUInt32BE(0) % (until - from - 9));
        const forged = Uint8Array.from(snapshot);
        forged[at] = (forged[at] ?? 0) ^ (1 << (random.readUInt8(4) % 8));
        sealPart(forged, from, until);
        const folder = aFolder({ snapshot: forged });
        const refused = await importInto(folder);
        expect([kind, seed, refused.exitCode > 0]).toEqual([kind, seed, true]);
        expect(refused.errors).toMatch(/is refused: |is of another chain|--block-hash says/);
        expect(existsSync(join(folder, "data", "chain"))).toBe(false);
      }
    }
  });

  it("refuses a file of another kind or version", async () => {
    const other = await importInto(aFolder({ snapshot: blocks[0] as Uint8Array }));
    expect([other.exitCode, other.errors]).toEqual([
      1,
      expect.stringContaining("it is not a snapshot of Ibex"),
    ]);
    const newer = Uint8Array.from(snapshot);
    newer[11] = SNAPSHOT_VERSION + 1;
    expect((await importInto(aFolder({ snapshot: newer }))).errors).toContain(
      `it has version ${SNAPSHOT_VERSION + 1} of the format`,
    );
    const none = await importInto(aFolder());
    expect([none.exitCode, none.errors]).toEqual([1, expect.stringContaining("the file cannot be opened")]);
  });

  it("starts over after an import that did not end, which no other command takes for a chain", async () => {
    const folder = aFolder({ snapshot });
    const database = await openLevelDatabase({ path: join(folder, "data", "chain") });
    const batch = new Batch();
    putUnfinishedImport(batch);
    batch.put(Uint8Array.of(0x31, 1), Uint8Array.of(1));
    await database.write(batch);
    await database.close();
    writeFileSync(join(folder, "data", "key"), toHex(account(1).privateKey));
    for (const command of [
      ["blocks", "import", "snapshot"],
      ["snapshot", "export", "--to=x"],
    ]) {
      const refused = await ibexIn(folder, ...command);
      expect([refused.exitCode, refused.errors]).toEqual([2, expect.stringContaining("was not finished")]);
    }
    expect((await ibexIn(folder, "database", "check")).output).toContain("was not finished");
    expect(await importInto(folder)).toMatchObject({ exitCode: 0, errors: "" });
    expect((await ibexIn(folder, "database", "check")).output).toContain("The database is sound.");
  });

  it("leaves nothing behind when it is stopped", async () => {
    const folder = aFolder({ snapshot });
    const stopped = Promise.resolve("SIGINT");
    const ended = await ibexWith(
      folder,
      stopped,
      ...["snapshot", "import", "--from=snapshot", `--block-hash=${hashes[HEAD]}`],
    );
    expect(ended).toMatchObject({ exitCode: 1, errors: expect.stringContaining("was stopped") });
    expect(existsSync(join(folder, "data", "chain"))).toBe(false);
    const exported = await ibexWith(origin, stopped, "snapshot", "export", "--to=stopped");
    expect(exported).toMatchObject({ exitCode: 1, errors: expect.stringContaining("was stopped") });
    expect([existsSync(join(origin, "stopped")), existsSync(join(origin, "stopped.part"))]).toEqual([
      false,
      false,
    ]);
  });
});

/** The parts of a snapshot file, by the lengths that they name. */
function partsOf(
  file: Uint8Array,
): readonly { readonly kind: number; readonly from: number; readonly until: number }[] {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const parts = [];
  for (let from = 12; from < file.length; ) {
    const until = from + 9 + view.getUint32(from + 1);
    parts.push({ kind: view.getUint8(from), from, until });
    from = until;
  }
  return parts;
}

/** Makes the checksum of a part right again. */
function sealPart(file: Uint8Array, from: number, until: number): void {
  const place = Buffer.alloc(8);
  place.writeUInt32BE(from, 4);
  const sum = crc32(file.subarray(from, until - 4), crc32(place));
  new DataView(file.buffer, file.byteOffset).setUint32(until - 4, sum);
}

/** Has the states of the chain in the folder begin with that of block `states`, as `--state-history` does before it removes anything. */
async function beginStates(folder: string, states: bigint): Promise<void> {
  const database = await openLevelDatabase({ path: join(folder, "data", "chain") });
  const batch = new Batch();
  putHistoryStart(batch, { headers: 0n, blocks: 0n, states });
  await database.write(batch);
  await database.close();
}
