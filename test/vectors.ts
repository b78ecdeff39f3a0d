import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it, type TestOptions, TestRunner } from "vitest";
import { unpackArchive } from "./fixtures/archive.ts";

/** The folder of package.json: this file may also run from where it was compiled to. */
const projectFolder = findProjectFolder();

/**
 * All conformance vectors: in the folder that IBEX_VECTORS names, else in ../shared/vectors beside the project. Undefined
 * when there is neither; a folder that was named but is missing is an error, so that a typing mistake cannot pass for a
 * green run.
 */
const allVectors: string | undefined = findVectors();

/**
 * Where tests find conformance vectors: all of them, or those that are in the repository (test/fixtures), which a run of
 * the tests unpacks for itself (ownFolder.ts). Undefined when there are none of either.
 */
export const vectorsDirectory: string | undefined = allVectors ?? process.env["IBEX_FIXTURES"];

/** Unpacks the fixtures into `folder`, unless all vectors are there; tells the workers of the run by the environment. */
export function provideFixtures(folder: string): void {
  if (allVectors !== undefined) return;
  const fixtures = join(projectFolder, "test", "fixtures");
  for (const name of readdirSync(fixtures))
    if (name.endsWith(".br")) unpackArchive(readFileSync(join(fixtures, name)), folder);
  process.env["IBEX_FIXTURES"] = folder;
}

/** A vector that is not among the fixtures of the repository. */
class MissingVector extends Error {
  override name = "MissingVector";
}

/**
 * A suite over vectors, which its body may read at once (for `it.each`). Without them, or when it reads one that is not
 * among the fixtures, a skipped test in its place says why.
 */
export function describeWithVectors(name: string, body: () => void, options: TestOptions = {}): void {
  describe(name, options, () => {
    const skip = (what: string): void =>
      it.skip(`skipped: no ${what} here; set IBEX_VECTORS to the folder of all vectors`, () => undefined);
    if (vectorsDirectory === undefined) {
      skip("vectors");
      return;
    }
    try {
      body();
    } catch (error) {
      if (!(error instanceof MissingVector)) throw error;
      skip(error.message);
    }
  });
}

/** A test of all vectors. Where the fixtures of the repository alone are there, a skipped test in its place says so. */
export function itWithAllVectors(name: string, body: () => void): void {
  if (allVectors !== undefined) it(name, body);
  else it.skip(`${name} (skipped: set IBEX_VECTORS to the folder of all vectors)`, () => undefined);
}

/**
 * Path of a file or folder below the vectors; call it only where a suite with vectors runs. A test that asks for one that
 * is not among the fixtures is skipped.
 */
export function vectorPath(...segments: readonly string[]): string {
  if (vectorsDirectory === undefined) throw new Error("no vectors; set IBEX_VECTORS to their folder");
  const path = join(vectorsDirectory, ...segments);
  if (allVectors !== undefined || existsSync(path)) return path;
  const name = segments.join("/");
  TestRunner.getCurrentTest()?.context.skip(`no ${name} here; set IBEX_VECTORS to the folder of all vectors`);
  throw new MissingVector(name);
}

/** A JSON vector as `T`, which the caller states from the vectors' README. */
export function readVectorJson<T>(...segments: readonly string[]): T {
  return JSON.parse(readFileSync(vectorPath(...segments), "utf8")) as T;
}

export function readVectorBytes(...segments: readonly string[]): Uint8Array {
  return Uint8Array.from(readFileSync(vectorPath(...segments)));
}

function findVectors(): string | undefined {
  const named = process.env["IBEX_VECTORS"];
  if (named !== undefined && named !== "") {
    if (!existsSync(named)) throw new Error(`IBEX_VECTORS names ${named}, which does not exist`);
    return resolve(named);
  }
  const beside = resolve(projectFolder, "..", "shared", "vectors");
  return existsSync(beside) ? beside : undefined;
}

function findProjectFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

/** The fact sheets lie beside the vectors, in a folder `spec`. */
const sheetsDirectory: string | undefined =
  vectorsDirectory === undefined ? undefined : join(dirname(vectorsDirectory), "spec");

/** As describeWithVectors, with the text of a fact sheet. */
export function describeWithSheet(name: string, sheet: string, body: (text: string) => void): void {
  const path = sheetsDirectory === undefined ? undefined : join(sheetsDirectory, sheet);
  describe(name, () => {
    if (path !== undefined && existsSync(path)) body(readFileSync(path, "utf8"));
    else it.skip(`skipped: no fact sheet ${sheet} in a folder spec beside the vectors`, () => undefined);
  });
}
