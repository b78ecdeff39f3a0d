import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { isInstalled, saySkipped } from "../../delivery/installed.ts";
import { itIfThorough } from "../../thorough.ts";
import { startNodeProcess, temporaryFolder } from "../harness/nodeProcess.ts";

const ROOT = resolve(import.meta.dirname, "..", "..", "..");

it("the package has no dependency that only building or testing needs", () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  expect(
    Object.keys(dependencies).filter((name) => /^@types\/|^typescript$|vitest|biome|rolldown/.test(name)),
  ).toEqual([]);
});

itIfThorough("the package from a fresh clone installs without a compiler, and its program runs", async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const clone = freshClone();
  run("npm", ["pack"], clone);
  const tarball = join(clone, `ibex-node-${version}.tgz`);
  const paths = run("tar", ["-tzf", tarball], clone)
    .split("\n")
    .map((path) => path.replace(/^package\//, ""));
  for (const path of [
    "dist/main.js",
    "dist/main.js.map",
    "src/main.ts",
    "genesis/dev.json",
    "config/dev.toml",
  ])
    expect(paths).toContain(path);
  expect(paths.filter((path) => /^(test|scripts|node_modules)\/|^dist\/\./.test(path))).toEqual([]);

  const folder = temporaryFolder();
  run(
    "npm",
    [
      "install",
      "--prefix",
      folder,
      "--engine-strict",
      "--prefer-offline",
      "--no-fund",
      "--no-audit",
      tarball,
    ],
    folder,
  );
  const installed = join(folder, "node_modules");
  for (const left of ["typescript", "@typescript", "@types", "rolldown", "@rolldown", "ibex-build"])
    expect(existsSync(join(installed, left))).toBe(false);
  expect(run("npx", ["ibex", "--version"], folder)).toContain(`ibex/v${version}/`);
  expect(run("npx", ["ibex", "--help"], folder)).toContain("--rpc-http-port");

  const program = join(installed, "ibex-node", "dist", "main.js");
  const node = await startNodeProcess({ program });
  expect(await node.rpc("eth_chainId")).toBe("0x539");
  expect(await node.stop()).toBe(0);

  if (isInstalled("dpkg-deb")) expectDebianPackage(clone, version);
  else saySkipped("the Debian package", "dpkg-deb", "dpkg");
});

/** What `scripts/debian.sh` makes of the tarball runs, and has nothing that others than root may write. */
function expectDebianPackage(clone: string, version: string): void {
  // What is in it is the same, and xz takes half a minute.
  run("scripts/debian.sh", [], clone, { DPKG_DEB_COMPRESSOR_TYPE: "gzip", DPKG_DEB_COMPRESSOR_LEVEL: "1" });
  const [file = ""] = readdirSync(clone).filter((name) => name.endsWith(".deb"));
  const extracted = temporaryFolder();
  run("dpkg-deb", ["--extract", file, extracted], clone);
  expect(run(join(extracted, "usr", "bin", "ibex"), ["--version"], clone)).toContain(`ibex/v${version}/`);
  for (const path of [
    "lib/systemd/system/ibex.service",
    "etc/ibex/node.toml",
    "usr/share/doc/ibex/copyright",
    "usr/share/bash-completion/completions/ibex",
    "usr/share/zsh/vendor-completions/_ibex",
  ])
    expect(existsSync(join(extracted, path)), path).toBe(true);
  const [, genesis = ""] =
    /^genesis-file = "(.*)"$/m.exec(readFileSync(join(extracted, "etc/ibex/node.toml"), "utf8")) ?? [];
  expect(existsSync(join(extracted, genesis)), genesis).toBe(true);
  expect(run("find", [extracted, "-perm", "/022", "!", "-type", "l"], clone)).toBe("");
}

/** A copy of the sources, without generated files. */
function freshClone(): string {
  const clone = join(temporaryFolder(), "clone");
  mkdirSync(clone);
  const generated = new Set(["node_modules", "dist", ".git", "test"]);
  for (const name of readdirSync(ROOT))
    if (!generated.has(name)) cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  return clone;
}

/** The standard output of a command. */
function run(
  command: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): string {
  return execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...environment },
  });
}
