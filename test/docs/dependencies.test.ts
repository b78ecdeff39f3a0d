import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDocument, root } from "./documents.ts";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

function manifestIn(...folders: readonly string[]): Manifest {
  return JSON.parse(readFileSync(join(root, ...folders, "package.json"), "utf8")) as Manifest;
}

const [, atRunTime = "", toBuild = "", inTests = ""] = readDocument("docs/dependencies.md").split("\n## ");

function packagesIn(section: string): readonly string[] {
  return [...section.matchAll(/^\| (`.*?) \|/gm)]
    .flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name))
    .sort();
}

function namesOf(dependencies: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.keys(dependencies).sort();
}

describe("the page of dependencies", () => {
  it("names what is needed at run time, and nothing else", () => {
    const { dependencies, optionalDependencies } = manifestIn();
    expect(packagesIn(atRunTime)).toEqual(namesOf({ ...dependencies, ...optionalDependencies }));
  });

  it("names what building needs, and nothing else", () => {
    expect(packagesIn(toBuild)).toEqual(namesOf(manifestIn("scripts", "build").dependencies));
  });

  it("names what tests and benchmarks need, and nothing else", () => {
    expect(packagesIn(inTests)).toEqual(namesOf(manifestIn().devDependencies));
  });
});
