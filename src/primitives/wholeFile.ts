import { lstatSync, renameSync, writeFileSync } from "node:fs";

/**
 * Writes a small file that others wait for: a reader finds all of its text, or what the file held before. What is not a regular file,
 * such as /dev/null, is written as it is. Not durable; throws what the file system says.
 */
export function writeWhole(path: string, text: string): void {
  const before = lstatSync(path, { throwIfNoEntry: false });
  if (before !== undefined && !before.isFile()) {
    writeFileSync(path, text);
    return;
  }
  const draft = `${path}.new`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}
