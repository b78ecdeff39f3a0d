import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeWithVectors, vectorPath } from "../vectors.ts";
import { COVERAGE, coverageOf } from "./coverage.ts";
import { SUITES } from "./suites.ts";

describeWithVectors("the table of what the vectors are read by", () => {
  const paths = readdirSync(vectorPath(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(vectorPath().length + 1));

  it("speaks of every file", () => {
    expect(paths.filter((path) => coverageOf(path) === undefined)).toEqual([]);
  });

  it("speaks of no files that are not there", () => {
    const spoken = new Set(paths.map(coverageOf));
    expect(COVERAGE.filter((entry) => !spoken.has(entry)).map(({ files }) => files)).toEqual([]);
  });

  it("names suites that exist, and tests that read vectors of this folder", () => {
    const suites = new Set(SUITES.map(({ name }) => name));
    const wrong = COVERAGE.flatMap(({ files, by }) =>
      by
        .filter((place) => !suites.has(place) && !mentions(place, files))
        .map((place) => `${files}: ${place}`),
    );
    expect(wrong).toEqual([]);
  });

  it("says what is open where nobody reads", () => {
    expect(COVERAGE.filter(({ by, open }) => by.length === 0 && open === undefined)).toEqual([]);
  });
});

/** True when the test's text, or that of what it imports beside it, has the folder's name. */
function mentions(test: string, files: string): boolean {
  if (!existsSync(test)) return false;
  const [folder = ""] = files.split("/");
  const text = readFileSync(test, "utf8");
  const beside = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, target = ""]) => join(test, "..", target));
  return [test, ...beside].some((file) => existsSync(file) && readFileSync(file, "utf8").includes(folder));
}
