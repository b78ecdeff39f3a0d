import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type CompiledContract, compileAll } from "./compile.ts";

/** Contracts of test/applications/contracts. */
export type ApplicationName = (typeof NAMES)[number];
export type Applications = Readonly<Record<ApplicationName, CompiledContract>>;

const NAMES = [
  "Bridge",
  "Exchange",
  "Farm",
  "IssuedToken",
  "Locker",
  "Pool",
  "Router",
  "Staking",
  "WrappedNative",
] as const;

/** The fork of networks 7171 and 7771 (genesis/mainnet.json, genesis/testnet.json). */
const EVM_VERSION = "berlin";

/**
 * Compiles the applications. That takes seconds, so what came out is kept in node_modules/.cache until a source, the
 * compiler or OpenZeppelin's contracts change. Each ABI also has the errors of all others: a call that a token refuses
 * gives the token's error.
 */
export function compileApplications(): Applications {
  const sources = applicationSources();
  const versions = ["solc", "@openzeppelin/contracts"].map(
    (name) => (packages(`${name}/package.json`) as { readonly version: string }).version,
  );
  const state = createHash("sha256")
    .update(JSON.stringify([sources, versions, EVM_VERSION]))
    .digest("hex");
  const kept = join(MODULES, ".cache", `ibex-applications-${state.slice(0, 16)}.json`);
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, "utf8")) as Applications;
  const compiled = compileAll(sources, EVM_VERSION);
  const missing = NAMES.find((name) => compiled[name] === undefined);
  if (missing !== undefined) throw new Error(`no source has the contract ${missing}`);
  const applications = withAllErrors(compiled);
  mkdirSync(dirname(kept), { recursive: true });
  // Renamed, because several processes may compile at once.
  writeFileSync(`${kept}.${process.pid}`, JSON.stringify(applications));
  renameSync(`${kept}.${process.pid}`, kept);
  return applications as Applications;
}

/** Sources by file name. */
export function applicationSources(): Readonly<Record<string, string>> {
  const names = readdirSync(FOLDER).sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(FOLDER, name), "utf8")]));
}

const packages = createRequire(import.meta.url);
const MODULES = dirname(dirname(dirname(packages.resolve("@openzeppelin/contracts/package.json"))));
const FOLDER = join(dirname(MODULES), "test", "applications", "contracts");

function withAllErrors(
  compiled: Readonly<Record<string, CompiledContract>>,
): Readonly<Record<string, CompiledContract>> {
  const errors = new Map(
    Object.values(compiled)
      .flatMap(({ abi }) => abi.filter(({ type }) => type === "error"))
      .map((error) => [JSON.stringify(error), error]),
  );
  return Object.fromEntries(
    Object.entries(compiled).map(([name, { abi, bytecode }]) => [
      name,
      { abi: [...abi.filter(({ type }) => type !== "error"), ...errors.values()], bytecode },
    ]),
  );
}
