import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeWithVectors, itWithAllVectors, vectorPath } from "../vectors.ts";
import { COVERAGE, coverageOf } from "./coverage.ts";
import { SUITES } from "./suites.ts";

describeWithVectors("the coverage table of the vectors", () => {
  const paths = readdirSync(vectorPath(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(vectorPath().length + 1));

  it("has an entry for every file", () => {
    expect(paths.filter((path) => coverageOf(path) === undefined)).toEqual([]);
  });

  // What the repository may not hold has entries, too.
  itWithAllVectors("has no entries without files", () => {
    const used = new Set(paths.map(coverageOf));
    expect(COVERAGE.filter((entry) => !used.has(entry)).map(({ files }) => files)).toEqual([]);
  });

  it("names suites that exist, and tests that read vectors of this folder", () => {
    const suites = new Set(SUITES.map(({ name }) => name));
    const wrong = COVERAGE.flatMap(({ files, by }) =>
      by
        .filter((reader) => !suites.has(reader) && !mentions(reader, files))
        .map((reader) => `${files}: ${reader}`),
    );
    expect(wrong).toEqual([]);
  });

  it("says why files are not read", () => {
    expect(COVERAGE.filter(({ by, open }) => by.length === 0 && open === undefined)).toEqual([]);
  });
});

/** Whether the test, or a file that it imports by relative path, contains the folder's name. */
function mentions(test: string, files: string): boolean {
  if (!existsSync(test)) return false;
  const [folder = ""] = files.split("/");
  const text = readFileSync(test, "utf8");
  const imports = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, target = ""]) => join(test, "..", target));
  return [test, ...imports].some((file) => existsSync(file) && readFileSync(file, "utf8").includes(folder));
}
