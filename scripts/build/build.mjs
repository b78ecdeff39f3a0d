/**
 * Builds dist/ from src/: main.js, a file for each kind of worker thread, and what they share below parts/. A few large
 * files instead of hundreds of small ones, because finding, reading and linking a module costs more at a start than
 * what is in it. Packages stay outside, as npm installs them. Types are checked by `npm run check`, not here.
 *
 * Tests build other programs: `--to=FOLDER` writes to an empty folder, `--replace=FILE=OTHER` takes another file in the place
 * of one of src/.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const src = join(root, "src");
const dist = resolve(argumentNamed("to") ?? join(root, "dist"));
const [replaced, replacement] =
  argumentNamed("replace")
    ?.split("=")
    .map((path) => resolve(path)) ?? [];
const parts = join(dist, "parts");
/** Names the files of the last build. It is written last: newer sources than it mean that dist/ is stale. */
const built = join(dist, ".built");

/** What runs before the compiled code of the rest can be cached, and the smallest thread. */
const FIRST = ["program.ts", "workers/recoveryWorker.ts"];
/** What each kind of thread loads when it starts. */
const STARTS = {
  program: ["cli/run.ts"],
  node: ["node/node.ts"],
  callers: ["callers/threads/callerThread.ts"],
  jobs: [
    "accounts/accountIndexWorker.ts",
    "calls/callWorker.ts",
    "calls/traceWorker.ts",
    "logs/logIndexWorker.ts",
    "logs/logSearchWorker.ts",
    "state/removal/stateRemovalWorker.ts",
    "storage/leveldb/scrubberWorker.ts",
    "storage/removal/blockRemovalWorker.ts",
  ],
};
/** What partOf compares with. */
let reached;

mkdirSync(parts, { recursive: true });
const before = existsSync(built) ? readFileSync(built, "utf8").split("\n") : [];
const bundle = await rolldown({
  cwd: root,
  platform: "node",
  preserveEntrySignatures: "allow-extension",
  input: Object.fromEntries(entries().map((path) => [basename(path, ".ts"), path])),
  external: (id) => !id.startsWith(".") && !id.startsWith(root),
  plugins: [
    {
      name: "replace",
      resolveId: (id, importer = root) =>
        id.startsWith(".") && resolve(dirname(importer), id) === replaced ? replacement : undefined,
    },
  ],
});
const { output } = await bundle.write({
  dir: dist,
  format: "esm",
  sourcemap: true,
  // The package brings src/.
  sourcemapExcludeSources: true,
  entryFileNames: "[name].js",
  chunkFileNames: "parts/[name]-[hash].js",
  codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: partOf, debugName: "starts" }] },
});
await bundle.close();

const after = output.map(({ fileName }) => fileName);
// A node that runs may still load parts of the build before this one.
const kept = new Set([...after, ...before]);
for (const name of readdirSync(parts)) if (!kept.has(`parts/${name}`)) rmSync(join(parts, name));
// Such as a file for each module, which builds before 0.2.0 made.
for (const name of readdirSync(dist))
  if (!name.startsWith(".") && name !== "parts" && !kept.has(name))
    rmSync(join(dist, name), { recursive: true });
writeFileSync(built, after.join("\n"));

/**
 * The part that a module is joined to: each file to find, read and link costs a start half a millisecond, so what comes together at
 * the start of the same kinds of threads is one. What only commands or one kind of worker load is left to the bundler.
 */
function partOf(id, context) {
  reached ??= {
    first: reachedFrom(FIRST, context),
    kinds: Object.entries(STARTS).map(([kind, files]) => [kind, reachedFrom(files, context)]),
  };
  if (context.getModuleInfo(id)?.isEntry || id === join(src, "program.ts")) return undefined;
  if (reached.first.has(id)) return "first";
  const kinds = reached.kinds.flatMap(([kind, found]) => (found.has(id) ? [kind] : []));
  return kinds.length === 0 || kinds[0] === "jobs" ? undefined : kinds.join("-");
}

/** The modules that these load without waiting for anything. */
function reachedFrom(files, context) {
  const found = new Set(files.map((file) => join(src, file)));
  for (const id of found)
    for (const next of context.getModuleInfo(id)?.importedIds ?? []) if (isAbsolute(next)) found.add(next);
  return found;
}

/** main.ts, and the module of each kind of worker thread. */
function entries() {
  const paths = readdirSync(src, { recursive: true }).map((path) => join(src, path));
  return [join(src, "main.ts"), ...paths.filter((path) => path.endsWith("Worker.ts"))];
}

function argumentNamed(name) {
  return process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
}
