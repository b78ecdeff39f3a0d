import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..", "..");
const STEPS = join(ROOT, "src", "storage", "migration", "steps.ts");
const NEXT_STEPS = join(ROOT, "test", "storage", "migration", "nextSteps.ts");

/**
 * Builds the program of a later version: today's source with the migrations of nextSteps.ts, in an empty folder. Returns its main.js. Nothing in
 * it knows that it is tested.
 */
export function buildNextVersion(folder: string): string {
  const dist = join(folder, "dist");
  mkdirSync(dist);
  for (const name of ["package.json", "genesis"])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const builder = join(ROOT, "scripts", "build", "build.mjs");
  execFileSync(process.execPath, [builder, `--to=${dist}`, `--replace=${STEPS}=${NEXT_STEPS}`], {
    stdio: "inherit",
  });
  return join(dist, "main.js");
}
