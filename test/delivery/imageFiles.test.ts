import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

/** Paths that `.dockerignore` gives to the image's build. */
const GIVEN = readFileSync(".dockerignore", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("!"))
  .map((line) => line.slice(1));

/** A script and all that it loads, by their paths in the repository. */
function loadedBy(path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, name] of readFileSync(path, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
    const loaded = relative(".", join(dirname(path), name as string));
    if (existsSync(loaded)) loadedBy(loaded, found);
  }
  return found;
}

describe("the image's build", () => {
  it("is given all scripts that it runs", () => {
    const scripts = loadedBy("scripts/setup.mjs");
    expect(scripts).toContain("scripts/childProcess.mjs");
    const missing = [...scripts].filter(
      (path) => !GIVEN.some((given) => path === given || path.startsWith(`${given}/`)),
    );
    expect(missing).toEqual([]);
  });
});
