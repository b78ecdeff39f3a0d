import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it, type TestOptions } from "vitest";

/**
 * Public conformance vectors live outside the project: in the folder that IBEX_VECTORS names, else in
 * ../shared/vectors beside it. Undefined when there is neither; a folder that was named but is missing is an error,
 * so that a typing mistake cannot pass for a green run.
 */
export const vectorsDirectory: string | undefined = findVectors();

/**
 * A suite over vectors, which its body may read at once (for `it.each`). Without them the body is not run, and a
 * skipped test in its place says why.
 */
export function describeWithVectors(name: string, body: () => void, options: TestOptions = {}): void {
  describe(name, options, () => {
    if (vectorsDirectory !== undefined) body();
    else it.skip("skipped: no vectors here; set IBEX_VECTORS to their folder", () => undefined);
  });
}

/** Path of a file or folder below the vectors; call it only where a suite with vectors runs. */
export function vectorPath(...segments: readonly string[]): string {
  if (vectorsDirectory === undefined) throw new Error("no vectors; set IBEX_VECTORS to their folder");
  return join(vectorsDirectory, ...segments);
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
  const beside = resolve(projectFolder(), "..", "shared", "vectors");
  return existsSync(beside) ? beside : undefined;
}

/** The folder of package.json: this file may also run from where it was compiled to. */
function projectFolder(): string {
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
