import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { temporaryFolder } from "./nodeProcess.ts";

const packages = createRequire(import.meta.url);

/** The binary that npm installed for this platform; undefined when there is none. */
export function foundryBinary(name: "forge" | "cast"): string | undefined {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  try {
    return join(packages.resolve(`@foundry-rs/${name}-${platform}/package.json`), "..", "bin", name);
  } catch {
    return undefined;
  }
}

/**
 * Creates a project of these files, by path, that uses the compiler and OpenZeppelin's contracts of node_modules. That
 * compiler lacks some options of the native one.
 */
export function writeFoundryProject(
  files: Readonly<Record<string, string>>,
  evmVersion: "berlin" | "cancun" = "cancun",
): string {
  const folder = temporaryFolder();
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text, { mode });
  };
  write("solc", COMPILER, 0o755);
  write(
    "foundry.toml",
    [
      "[profile.default]",
      'solc = "./solc"',
      "offline = true",
      "optimizer = true",
      `evm_version = "${evmVersion}"`,
      `remappings = ["@openzeppelin/contracts/=${OPEN_ZEPPELIN}/"]`,
      `allow_paths = ["${OPEN_ZEPPELIN}"]`,
      "",
    ].join("\n"),
  );
  for (const [path, text] of Object.entries(files)) write(path, text);
  return folder;
}

const OPEN_ZEPPELIN = dirname(packages.resolve("@openzeppelin/contracts/package.json"));

const COMPILER = `#!${process.execPath}
const solc = require(${JSON.stringify(packages.resolve("solc"))});
if (process.argv.includes("--version")) console.log("solc\\nVersion: " + solc.version());
else console.log(solc.compile(require("node:fs").readFileSync(0, "utf8")));
`;
