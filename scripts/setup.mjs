/**
 * Prepares a fresh clone: checks Node, installs missing dependencies, rebuilds stale output. Runs before `npm start`
 * (runtime dependencies and the bundler, which scripts/build/package.json declares as a workspace so that the package
 * does not include it) and before `npm test` (`--dev`: test tools, too). Before `npm pack` it builds from scratch
 * (`--clean`), so that no output of a deleted source is packed. Plain JavaScript, because nothing is installed yet when
 * it runs. Returns quickly when everything is up to date.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wantsDevelopment = process.argv.includes("--dev");
const wantsCleanBuild = process.argv.includes("--clean");

checkNodeVersion();
installIfNeeded();
buildIfNeeded();

function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Ibex needs Node.js 20.19 or newer; this is ${process.version}.`);
}

function installIfNeeded() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const marker = join(root, "node_modules", ".ibex-installed");
  const installed = existsSync(marker) ? readFileSync(marker, "utf8").split("\n") : [];
  if (installed[0] === lock && (installed[1] === "all" || !wantsDevelopment)) return;
  console.log(`Installing dependencies${wantsDevelopment ? ", test tools included" : ""} (once)…`);
  // Not `npm ci`: it insists that the lock file names the binaries of every platform, which a registry may not have.
  const options = ["--no-save", "--loglevel=error", ...(wantsDevelopment ? [] : ["--omit=dev"])];
  run(npmCommand(), ["install", ...options], "the dependencies could not be installed");
  writeFileSync(marker, `${lock}\n${wantsDevelopment ? "all" : "runtime"}\n`);
}

function buildIfNeeded() {
  if (wantsCleanBuild) rmSync(join(root, "dist"), { recursive: true, force: true });
  const built = join(root, "dist", ".built");
  const builtAtMs = existsSync(built) ? statSync(built).mtimeMs : 0;
  const inputs = [newest(join(root, "src")), newest(join(root, "scripts", "build")), lockChangedAtMs()];
  if (Math.max(...inputs) < builtAtMs) return;
  console.log("Building…");
  run(process.execPath, [join(root, "scripts", "build", "build.mjs")], "the build failed");
}

function lockChangedAtMs() {
  return statSync(join(root, "package-lock.json")).mtimeMs;
}

function newest(folder) {
  let newestMs = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newestMs = Math.max(newestMs, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return newestMs;
}

function npmCommand() {
  return process.platform === "win32" ? "npm.cmd" : "npm";
}

function run(command, args, complaint) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) fail(`${complaint}${error ? `: ${error.message}` : ""}.`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
