import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join, relative } from "node:path";
import type { Random } from "../storage/random.ts";

/**
 * Spoils one file somewhere below `folder`, as chance decides: a flipped bit, a run of zeros, a cut. Returns what it
 * did, for the message of a failing test. Files that hold no data (LevelDB's LOCK and its diary LOG) are left alone, and
 * so is what `isSpared` says.
 */
export function damageSomeFile(
  folder: string,
  random: Random,
  isSpared: (path: string) => boolean = () => false,
): string {
  const files = dataFiles(folder).filter((path) => !isSpared(path));
  const path = files[random.below(files.length)];
  if (path === undefined) throw new Error(`${folder} holds no file to damage`);
  return `${relative(folder, path)}: ${damageFile(path, random)}`;
}

/**
 * As damageSomeFile, for a folder that a program has open: bytes change where they are, and no file gets shorter, as
 * when a disk goes bad. (A file that is cut off under a program that has it mapped ends the program with SIGBUS.)
 */
export function damageOpenFile(folder: string, random: Random, isMeant: (path: string) => boolean): string {
  const files = dataFiles(folder).filter(isMeant);
  const path = files[random.below(files.length)];
  if (path === undefined) throw new Error(`${folder} holds no file to damage`);
  const length = statSync(path).size;
  const at = random.below(length);
  const end = random.below(2) === 0 ? at + 1 : Math.min(length, at + 1 + random.below(4096));
  const bytes = readFileSync(path).subarray(at, end);
  if (end === at + 1) bytes.writeUInt8(bytes.readUInt8(0) ^ (1 << random.below(8)), 0);
  else bytes.fill(0);
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
  return `${relative(folder, path)}: bytes ${at} to ${end} of ${length} spoiled`;
}

function dataFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^(LOCK|LOG|LOG\.old)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => statSync(path).size > 0)
    .sort();
}

function damageFile(path: string, random: Random): string {
  const bytes = readFileSync(path);
  const at = random.below(bytes.length);
  switch (random.below(4)) {
    case 0:
      truncateSync(path, at);
      return `cut to ${at} of ${bytes.length} bytes`;
    case 1: {
      const end = Math.min(bytes.length, at + 1 + random.below(4096));
      bytes.fill(0, at, end);
      writeFileSync(path, bytes);
      return `bytes ${at} to ${end} of ${bytes.length} zeroed`;
    }
    default: {
      const bit = random.below(8);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
      writeFileSync(path, bytes);
      return `bit ${bit} of byte ${at} of ${bytes.length} flipped`;
    }
  }
}
