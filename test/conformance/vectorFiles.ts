import { existsSync, readdirSync } from "node:fs";
import { vectorPath } from "../vectors.ts";

/** Sorted paths of all JSON files below a folder of the vectors, relative to it; empty when the folder does not exist. */
export function vectorFiles(...folder: readonly string[]): string[] {
  const root = vectorPath(...folder);
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".json"))
    .sort();
}
