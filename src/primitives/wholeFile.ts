import { lstatSync, renameSync, writeFileSync } from "node:fs";

/**
 * Writes a small file that others wait for: a reader finds either all of the new text or the previous content. Writes in
 * place where the path is not a regular file, such as /dev/null, or the folder is not writable. Not durable; throws errors
 * of the file system.
 */
export function writeWhole(path: string, text: string): void {
  if (!replaced(path, text)) writeFileSync(path, text);
}

/** Replaces the file by a temporary one beside it. Returns false, with nothing done, when it must be written in place. */
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
