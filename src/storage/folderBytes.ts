import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * Sum of the sizes of the files in a folder. Skips those that LevelDB removes in the meantime. Reads one file at a time, to
 * leave the I/O threads to others.
 */
export async function bytesInFolder(folder: string): Promise<number> {
  let sum = 0;
  for (const name of await readdir(folder)) {
    sum += await stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return sum;
}
