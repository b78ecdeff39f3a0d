import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryFolder } from "./storage/temporaryFolder.ts";

const root = resolve(import.meta.dirname, "..");

/** URL of a module of src, such as "primitives/clock", in JavaScript, which threads and processes of tests can run. */
export function compiledModule(name: string): string {
  const folder = temporaryFolder();
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const options = [
    "--ignoreConfig",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    "--types",
    "node",
    "--skipLibCheck",
    "--rewriteRelativeImportExtensions",
    "--rootDir",
    join(root, "src"),
  ];
  const source = join(root, "src", `${name}.ts`);
  execFileSync(process.execPath, [compiler, ...options, "--outDir", folder, source], { stdio: "inherit" });
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  return pathToFileURL(join(folder, `${name}.js`)).href;
}
