import { lstatSync, renameSync, writeFileSync } from "node:fs";

/**
 * Writes a small file that others wait for: a reader finds all of its text, or what the file held before. What is not a regular file,
 * such as /dev/null, or lies in a folder that this user may not write, is written in place. Not durable; throws what the file system says.
 */
export function writeWhole(path: string, text: string): void {
  if (!replaced(path, text)) writeFileSync(path, text);
}

/** Replaces the file by a draft beside it. False, and nothing is done, where it must be written in place. */
function replaced(path: string, text: string): boolean {
  const before = lstatSync(path, { throwIfNoEntry: false });
  if (before !== undefined && !before.isFile()) return false;
  const draft = `${path}.new`;
  try {
    writeFileSync(draft, text);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES") return false;
    throw error;
  }
  renameSync(draft, path);
  return true;
}
