import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
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
