import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { REMEDY } from "../checksum.ts";
import { DamagedData } from "../database.ts";
import { withDiskErrors } from "../diskErrors.ts";
import { readLog, verifyLog } from "./levelLog.ts";
import { versionOf } from "./levelManifest.ts";
import { findTableDamage } from "./levelTable.ts";

/**
 * Verifies the files of a LevelDB folder against LevelDB's own checksums, and yields each damage. This has to happen before
 * LevelDB opens the folder: LevelDB drops damaged records of its log, reads its tables unchecked, takes a folder without
 * CURRENT for an empty one, and deletes tables that a damaged manifest does not name. Our checksum in each value does not
 * help when a key or a filter is damaged and an existing entry is simply not found.
 *
 * An incomplete end of the newest log or of the manifest may be a write that a power cut interrupted. If more is lost, then
 * the log that the manifest names is missing, or the head is below the head marker (chainDatabase.ts).
 *
 * `limits` bound what is verified of the tables, the newest first: a start verifies all of a small database, `ibex database
 * check` all of a large one. No table may be missing. Calls `onRead` after each table that was read.
 */
export function* findLevelDamage(
  path: string,
  limits: TableLimits,
  onRead: (bytes: number) => void = () => undefined,
): Generator<string> {
  const names = existsSync(path) ? readdirSync(path) : [];
  if (!names.some((name) => LEVEL_FILE.test(name))) return;
  const manifestPath = currentManifest(path);
  if (manifestPath === undefined) {
    yield `${join(path, "CURRENT")} does not name a manifest of the folder`;
    return;
  }
  const manifest = readLog(read(manifestPath));
  if (manifest.damagedAt !== undefined) {
    yield `${manifestPath} does not match its checksum at byte ${manifest.damagedAt}`;
    return;
  }
  const { tables, logNumber } = versionOf(manifest.records);
  if (logNumber === 0) {
    yield `${manifestPath} is cut off or does not match its checksums`;
    return;
  }
  yield* findLogDamage(path, names, logNumber);
  yield* findTablesDamage(path, { names, tables }, limits, onRead);
}

/** Limits on the verification of tables. */
interface TableLimits {
  /** Most bytes that are read. */
  readonly bytes: number;
  /** Most tables whose sizes are compared with the manifest. */
  readonly sizes: number;
}

export const ALL_TABLES: TableLimits = { bytes: Number.POSITIVE_INFINITY, sizes: Number.POSITIVE_INFINITY };

/** Throws DamagedData with the first damage, at a start. The message ends with the remedy. */
export function refuseDamagedLevelFiles(path: string, remedy = REMEDY): void {
  for (const damage of findLevelDamage(path, TABLES_AT_START))
    throw new DamagedData(`The database is damaged: ${damage}. ${remedy}`);
}

export interface TableFile {
  readonly number: number;
  readonly path: string;
  /** Length of the file in bytes, according to the manifest. */
  readonly length: number;
}

/** Lists the current tables of a database that LevelDB has open. Throws DamagedData when the manifest is damaged. */
export function liveTables(path: string): readonly TableFile[] {
  const manifestPath = currentManifest(path);
  const manifest = manifestPath === undefined ? undefined : readLog(read(manifestPath));
  if (manifest === undefined || manifest.damagedAt !== undefined)
    throw new DamagedData(
      `The database is damaged: the manifest in ${path} is missing or does not match its checksums. ${REMEDY}`,
    );
  return [...versionOf(manifest.records).tables].map(([number, length]) => ({
    number,
    length,
    path: tablePath(path, number) ?? join(path, fileName(number, "ldb")),
  }));
}

/**
 * Limits at a start, which take 40 to 100 ms, however large the database is. The sizes are those of 16 GB; the scrubber
 * verifies all tables soon afterwards.
 */
const TABLES_AT_START: TableLimits = { bytes: 64 * 1024 * 1024, sizes: 4096 };

const LEVEL_FILE = /^(MANIFEST-\d+|\d+\.(ldb|sst|log))$/;

/** The path of the manifest that CURRENT names; undefined when there is none. */
export function currentManifest(path: string): string | undefined {
  const current = join(path, "CURRENT");
  if (!existsSync(current)) return undefined;
  const name = /^(MANIFEST-\d+)\n$/.exec(new TextDecoder().decode(read(current)))?.[1];
  return name !== undefined && existsSync(join(path, name)) ? join(path, name) : undefined;
}

/** Only the newest log may end in an incomplete record. */
function* findLogDamage(path: string, names: readonly string[], logNumber: number): Generator<string> {
  const numbers = logNumbersIn(names, logNumber);
  if (numbers[0] !== logNumber) yield `${logPath(path, logNumber)} is missing`;
  for (const number of numbers) {
    const { damagedAt, isTorn } = verifyLog(read(logPath(path, number)));
    if (damagedAt !== undefined)
      yield `${logPath(path, number)} does not match its checksum at byte ${damagedAt}`;
    else if (isTorn && number !== numbers.at(-1)) yield `${logPath(path, number)} is cut off`;
  }
}

function* findTablesDamage(
  path: string,
  { names, tables }: { readonly names: readonly string[]; readonly tables: ReadonlyMap<number, number> },
  limits: TableLimits,
  onRead: (bytes: number) => void,
): Generator<string> {
  const present = new Set(names);
  let bytesLeft = limits.bytes;
  let sizesLeft = limits.sizes;
  // All tables are read into one piece of memory: allocating new memory for each takes as long as reading it.
  let room = new Uint8Array(0);
  for (const [number, length] of [...tables].sort(([a], [b]) => b - a)) {
    const name = tableNames(number).find((known) => present.has(known));
    if (name === undefined) {
      yield `${join(path, fileName(number, "ldb"))} is missing`;
      continue;
    }
    if (--sizesLeft < 0) continue;
    const file = join(path, name);
    const actual = statSync(file).size;
    if (actual !== length) {
      yield `${file} has ${actual} bytes instead of ${length}`;
      continue;
    }
    bytesLeft -= length;
    if (bytesLeft < 0) continue;
    if (room.length < length) room = new Uint8Array(length);
    const damage = findTableDamage(readInto(room.subarray(0, length), file));
    if (damage !== undefined) yield `${file}: ${damage}`;
    onRead(length);
  }
}

/** The numbers of the logs in a folder from `first` on, in order. */
export function logNumbers(path: string, first: number): readonly number[] {
  return logNumbersIn(readdirSync(path), first);
}

function logNumbersIn(names: readonly string[], first: number): readonly number[] {
  return names
    .map((name) => /^(\d+)\.log$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .filter((number) => number >= first)
    .sort((a, b) => a - b);
}

export function logPath(path: string, number: number): string {
  return join(path, fileName(number, "log"));
}

/** The path of a table that exists. Old versions of LevelDB called tables .sst; LevelDB reads both names. */
export function tablePath(path: string, number: number): string | undefined {
  return tableNames(number)
    .map((name) => join(path, name))
    .find(existsSync);
}

function tableNames(number: number): readonly string[] {
  return [fileName(number, "ldb"), fileName(number, "sst")];
}

function fileName(number: number, extension: string): string {
  return `${String(number).padStart(6, "0")}.${extension}`;
}

function read(path: string): Uint8Array {
  return withDiskErrors(`The file ${path} cannot be read`, () => readFileSync(path));
}

/** Reads as much of the file as `room` holds; returns a shorter view if the file is shorter. */
function readInto(room: Uint8Array, path: string): Uint8Array {
  return withDiskErrors(`The file ${path} cannot be read`, () => {
    const file = openSync(path, "r");
    try {
      let at = 0;
      for (let count = -1; at < room.length && count !== 0; at += count)
        count = readSync(file, room, at, room.length - at, at);
      return room.subarray(0, at);
    } finally {
      closeSync(file);
    }
  });
}
