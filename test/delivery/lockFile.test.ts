import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeVersionFault } from "../../src/nodeVersion.mjs";
import { root } from "../docs/documents.ts";

interface Package {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const require = createRequire(import.meta.url);
const { packages } = require(join(root, "package-lock.json")) as {
  readonly packages: Readonly<Record<string, Package>>;
};
const manifest = require(join(root, "package.json")) as { readonly engines: { readonly node: string } };
/** Fastify's own: ours would be one more dependency. */
const semver = createRequire(require.resolve("fastify"))("semver") as {
  satisfies(version: string, range: string): boolean;
};

/** The oldest supported release of each line of Node.js, and the line after the newest known one. */
const SUPPORTED = ["20.19.0", "22.13.0", "24.0.0", "26.0.0", "27.0.0"];
const UNSUPPORTED = ["0.12.18", "12.22.12", "18.20.8", "20.18.3", "21.7.3", "22.12.0", "23.11.1"];

describe("the lock file", () => {
  // What is missing was missing for the machine that wrote the file: `npm ci` refuses it everywhere.
  it("has an entry for all that its packages name, binaries of other platforms included", () => {
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !isFoundFrom(path, name))
        .map((name) => `${path || "package.json"} -> ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it("says of each package what its bytes hash to, and of none where it comes from", () => {
    const installed = Object.entries(packages).filter(
      ([path, { link }]) => path.includes("node_modules/") && !link,
    );
    expect(installed.length).toBeGreaterThan(100);
    const wrong = installed.filter(
      ([, { integrity, resolved }]) => !integrity?.startsWith("sha512-") || resolved !== undefined,
    );
    expect(wrong.map(([path]) => path)).toEqual([]);
  });

  it("names only packages that support each Node.js that Ibex does", () => {
    const wrong = Object.entries(packages).flatMap(([path, { engines }]) =>
      SUPPORTED.filter((version) => !semver.satisfies(version, engines?.["node"] ?? "*")).map(
        (version) => `${path} ${engines?.["node"]}: ${version}`,
      ),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the check of Node.js before a start", () => {
  it.each(SUPPORTED)("passes %s, as package.json does", (version) => {
    expect(semver.satisfies(version, manifest.engines.node)).toBe(true);
    expect(nodeVersionFault(version)).toBeUndefined();
  });

  it.each(UNSUPPORTED)("refuses %s by a sentence, as package.json does", (version) => {
    expect(semver.satisfies(version, manifest.engines.node)).toBe(false);
    expect(nodeVersionFault(version)).toBe(
      `Ibex needs Node.js 20 from 20.19 on, 22 from 22.13 on, or 24 or newer; this is ${version}.`,
    );
  });
});

/** Whether Node.js finds a package of this name from the folder `path`: beside it, or in a folder above. */
function isFoundFrom(path: string, name: string): boolean {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    if (packages[join(folder, "node_modules", name)] !== undefined) return true;
    if (folder === "") return false;
  }
}
