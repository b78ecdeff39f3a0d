/**
 * URL of a worker's file beside the module `base` (an import.meta.url). Worker threads cannot run TypeScript, so code that
 * runs from its sources (under the test runner) starts the built worker: dist/ mirrors src/.
 */
export function workerEntry(base: string, name: string): URL {
  const built = base.endsWith(".ts") ? base.replace(LAST_SOURCE_FOLDER, "/dist/") : base;
  return new URL(`${name}.js`, built);
}

const LAST_SOURCE_FOLDER = /\/src\/(?!.*\/src\/)/;
