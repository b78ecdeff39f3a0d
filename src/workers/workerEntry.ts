import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGE_FOLDER } from "../primitives/packageFolder.ts";

/**
 * URL of the built file of a worker, named after its module. Worker threads cannot run TypeScript, so code that runs from
 * its sources (under the test runner) starts the built worker, too.
 */
export function workerEntry(name: string): URL {
  return pathToFileURL(join(PACKAGE_FOLDER, "dist", `${name}.js`));
}
