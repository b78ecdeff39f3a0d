import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder that holds package.json, dist/ and genesis/, wherever in it this code runs: src/, dist/ or below. */
export const PACKAGE_FOLDER = folderOfManifest(import.meta.dirname);

function folderOfManifest(from: string): string {
  let folder = from;
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json above ${from}`);
    folder = parent;
  }
  return folder;
}
