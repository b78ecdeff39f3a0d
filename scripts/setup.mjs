/**
 * Prepares a fresh clone: checks Node, installs missing dependencies, rebuilds stale output. Runs before `npm start`
 * (runtime dependencies and the bundler, which scripts/build/package.json declares as a workspace so that the package
 * does not include it) and before `npm test` (`--dev`: test tools, too). Before `npm pack` it builds from scratch
 * (`--clean`), so that no output of a deleted source is packed. Plain JavaScript, because nothing is installed yet when
 * it runs. Returns quickly when everything is up to date.
 */
// As a whole: an older Node.js that lacks one of its names gets the sentence below instead of a SyntaxError.
import fs from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeVersionFault } from "../src/nodeVersion.mjs";
import { runToEnd } from "./childProcess.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wantsDevelopment = process.argv.includes("--dev");
const wantsCleanBuild = process.argv.includes("--clean");
const packages = join(root, "node_modules");

const fault = nodeVersionFault(process.versions.node);
if (fault === undefined) prepare();
else fail(fault);

async function prepare() {
  await installIfNeeded();
  await buildIfNeeded();
}

/**
 * Installs what the lock file names and is missing. A node may run from what is there: then nothing of it is deleted, the test
 * tools neither when only the node's packages are wanted.
 */
async function installIfNeeded() {
  const withTools = wantsDevelopment || hasTestTools();
  if (isInstalled(withTools)) return;
  console.log(`Installing dependencies${withTools ? ", test tools included" : ""} (once)…`);
  const options = ["--loglevel=error", ...(withTools ? [] : ["--omit=dev"])];
  // `npm ci` begins by deleting the folder.
  const command = fs.existsSync(packages) ? ["install", "--no-save"] : ["ci"];
  await run(npmCommand(), [...command, ...options], "the dependencies could not be installed");
}

/** Whether all that the lock file names is there, in its version; npm leaves binaries of other platforms out. */
function isInstalled(withTools) {
  // npm writes this list when it has unpacked everything.
  if (!fs.existsSync(join(packages, ".package-lock.json"))) return false;
  return Object.entries(readJson("package-lock.json").packages)
    .filter(
      ([path, { optional, dev }]) => path.startsWith("node_modules/") && !optional && (withTools || !dev),
    )
    .every(([path, { version, link }]) => {
      const manifest = join(path, "package.json");
      return fs.existsSync(join(root, manifest)) && (link || readJson(manifest).version === version);
    });
}

function hasTestTools() {
  const { devDependencies } = readJson("package.json");
  return Object.keys(devDependencies).some((name) => fs.existsSync(join(packages, name)));
}

function readJson(path) {
  return JSON.parse(fs.readFileSync(join(root, path), "utf8"));
}

async function buildIfNeeded() {
  if (wantsCleanBuild) fs.rmSync(join(root, "dist"), { recursive: true, force: true });
  const built = join(root, "dist", ".built");
  const builtAtMs = fs.existsSync(built) ? fs.statSync(built).mtimeMs : 0;
  const inputs = [newest(join(root, "src")), newest(join(root, "scripts", "build")), lockChangedAtMs()];
  if (Math.max(...inputs) < builtAtMs) return;
  console.log("Building…");
  await run(process.execPath, [join(root, "scripts", "build", "build.mjs")], "the build failed");
}

function lockChangedAtMs() {
  return fs.statSync(join(root, "package-lock.json")).mtimeMs;
}

function newest(folder) {
  let newestMs = 0;
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newestMs = Math.max(newestMs, entry.isDirectory() ? newest(path) : fs.statSync(path).mtimeMs);
  }
  return newestMs;
}

function npmCommand() {
  return process.platform === "win32" ? "npm.cmd" : "npm";
}

async function run(command, args, complaint) {
  try {
    if ((await runToEnd(command, args, { cwd: root })) !== 0) fail(`${complaint}.`);
  } catch (error) {
    fail(`${complaint}: ${error.message}.`);
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
