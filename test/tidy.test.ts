import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const src = join(root, "src");

/** Ground that everyone may stand on. */
const GROUND = ["primitives", "observability"];
const BELOW_ASSEMBLY = [
  "types",
  "chainspec",
  "ibft",
  "workers",
  "storage",
  "state",
  "evm",
  "execution",
  "tracers",
  "chain",
  "calls",
  "logs",
  "accounts",
  "txpool",
  "permissioning",
  "consensus",
  "sync",
  "network",
  "rpc",
  "faucet",
  "explorer",
  "graphql",
  "warmup",
];

/** Who may import whom: the layers of the house, downwards only. A folder may always import itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  primitives: [],
  observability: ["primitives"],
  workers: GROUND,
  types: GROUND,
  chainspec: [...GROUND, "types"],
  ibft: ["primitives", "types", "chainspec"],
  storage: [...GROUND, "workers", "types"],
  state: [...GROUND, "workers", "storage", "types", "chainspec"],
  evm: ["primitives"],
  execution: [...GROUND, "evm", "state", "types", "chainspec"],
  tracers: [...GROUND, "execution", "state", "types", "chainspec"],
  chain: [...GROUND, "execution", "state", "storage", "ibft", "types", "chainspec"],
  calls: [...GROUND, "workers", "tracers", "execution", "state", "storage", "types", "chainspec"],
  logs: [...GROUND, "workers", "chain", "storage", "types"],
  accounts: [...GROUND, "workers", "chain", "tracers", "execution", "state", "storage", "types", "chainspec"],
  txpool: [...GROUND, "types", "chainspec"],
  permissioning: [...GROUND, "types"],
  consensus: [...GROUND, "ibft", "types"],
  sync: [...GROUND, "types", "chainspec"],
  network: [...GROUND, "types", "chainspec"],
  rpc: [
    ...GROUND,
    "faucet",
    "chain",
    "logs",
    "accounts",
    "tracers",
    "execution",
    "state",
    "txpool",
    "types",
    "chainspec",
  ],
  faucet: [...GROUND, "storage"],
  explorer: [...GROUND, "faucet", "rpc"],
  graphql: [...GROUND, "chain", "logs", "execution", "state", "txpool", "types", "chainspec"],
  warmup: [...GROUND, "rpc", "txpool", "chain", "state", "storage", "types", "chainspec"],
  config: [...GROUND, ...BELOW_ASSEMBLY],
  node: [...GROUND, ...BELOW_ASSEMBLY, "config"],
  cli: [...GROUND, ...BELOW_ASSEMBLY, "config", "node"],
  "main.ts": ["nodeVersion.mjs", "program.ts"],
  "program.ts": [...GROUND, "storage", "config", "cli", "node"],
};

/** Packages that only named folders (or files) may use. */
const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  "classic-level": ["storage/leveldb/levelDatabase.ts"],
  "@ethereumjs/wallet": ["node/keystore.ts"],
  fastify: ["rpc/server/", "graphql/", "node/"],
  ws: ["rpc/server/"],
  secp256k1: ["primitives/"],
  "hyparquet-writer": ["cli/data/files/parquetFile.ts"],
  "hash-wasm": ["execution/precompiles/hashes.ts"],
  "mcl-wasm": ["execution/precompiles/"],
  snappyjs: ["network/rlpx/"],
  "smol-toml": ["config/", "permissioning/"],
  bcryptjs: ["node/access/passwordWorker.ts", "cli/commands/password.ts"],
  jose: ["rpc/access/", "node/access/"],
};

interface SourceFile {
  readonly path: string;
  readonly folder: string;
  readonly lines: number;
  readonly text: string;
  readonly imports: readonly string[];
}

const files: readonly SourceFile[] = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
  .map((entry) => join(entry.parentPath, entry.name))
  // What runs in a browser, of packages that are bundled, and the bundle.
  .filter((file) => !/\/explorer\/(page\/|pageFiles\.ts$)/.test(file))
  .map((file) => {
    const text = readFileSync(file, "utf8");
    const path = relative(src, file);
    const [folder = path] = path.split("/");
    const imports = [...text.matchAll(/(?:from|import)\s+\(?\s*"([^"]+)"/g)].map(([, target = ""]) => target);
    return { path, folder, lines: text.split("\n").length, text, imports };
  });

function importedFile(file: SourceFile, target: string): string {
  return relative(src, resolve(src, dirname(file.path), target));
}

describe("the house is tidy", () => {
  it("has the folders that the table of layers knows, and no others", () => {
    const unknown = files.filter(({ folder }) => MAY_IMPORT[folder] === undefined).map(({ path }) => path);
    expect(unknown).toEqual([]);
  });

  it("imports only downwards", () => {
    const wrong = files.flatMap((file) =>
      file.imports
        .filter((target) => target.startsWith("."))
        .map((target) => importedFile(file, target))
        .filter((target) => {
          const [folder = target] = target.split("/");
          return folder !== file.folder && !MAY_IMPORT[file.folder]?.includes(folder);
        })
        .map((target) => `${file.path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it("has no circles between files", () => {
    const edges = new Map(
      files.map((file) => [
        file.path,
        file.imports.filter((target) => target.startsWith(".")).map((target) => importedFile(file, target)),
      ]),
    );
    expect(findCircles(edges)).toEqual([]);
  });

  it("uses a package only where it lives, and only if package.json names it", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const wrong = files.flatMap((file) =>
      file.imports
        .filter((target) => !target.startsWith(".") && !target.startsWith("node:"))
        .filter((target) => {
          const parts = target.split("/");
          const name = target.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? target);
          const homes = PACKAGE_HOMES[name];
          const isHome = homes === undefined || homes.some((home) => file.path.startsWith(home));
          return !isHome || manifest.dependencies[name] === undefined;
        })
        .map((target) => `${file.path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it("keeps the protocol pure: no promise, clock, chance or I/O in src/ibft", () => {
    const impure = files
      .filter(({ folder }) => folder === "ibft")
      .filter(
        ({ text, imports }) =>
          /\basync\b|\bPromise\b|Date\.now|Math\.random|setTimeout|process\./.test(text) ||
          imports.some((target) => target.startsWith("node:")),
      )
      .map(({ path }) => path);
    expect(impure).toEqual([]);
  });

  it("reads the wall clock and the environment only at the edges", () => {
    const edges = ["node/", "cli/", "program.ts", "primitives/clock.ts", "config/"];
    const wrong = files
      .filter(({ path }) => !edges.some((edge) => path.startsWith(edge)))
      .filter(({ text }) => /Date\.now\(|Math\.random\(|process\.env/.test(text))
      .map(({ path }) => path);
    expect(wrong).toEqual([]);
  });

  it("starts worker threads in one place", () => {
    const starting = files.filter(({ text }) => /\bnew Worker\(/.test(text)).map(({ path }) => path);
    expect(starting).toEqual(["workers/workerThread.ts"]);
  });

  it("keeps files small enough to hold in the head", () => {
    const LONGEST_FILE_LINES = 420;
    // One switch over all instructions, which is what makes it fast.
    const SWITCH = "evm/core/run.ts";
    expect(
      files
        .filter(({ path, lines }) => lines > LONGEST_FILE_LINES && path !== SWITCH)
        .map(({ path, lines }) => `${path}: ${lines}`),
    ).toEqual([]);
  });

  it("has no drawers and no barrels", () => {
    expect(
      files
        .filter(({ path }) => /(^|\/)(utils?|helpers?|common|misc|index)(\.ts|\/)/.test(path))
        .map(({ path }) => path),
    ).toEqual([]);
  });
});

function findCircles(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      circles.push([...trail.slice(at), path].join(" -> "));
      return;
    }
    if (done.has(path)) return;
    for (const target of edges.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return circles;
}

it("each suite of the long run has a file, and each test that only the long run has is in it", () => {
  const script = readFileSync(join(root, "scripts", "longTests.mjs"), "utf8");
  const suites = [...script.matchAll(/const (?:SUITES|CAMPAIGNS) = \[([^\]]*)\]/g)].flatMap(
    ([, list]) => list?.match(/test\/[^"]+/g) ?? [],
  );
  const tests = readdirSync(join(root, "test"), { recursive: true })
    .map((path) => `test/${String(path)}`)
    .filter((path) => path.endsWith(".test.ts"));
  expect(suites.length).toBeGreaterThan(40);
  expect(suites.filter((suite) => !tests.some((path) => path.startsWith(suite)))).toEqual([]);
  // A test that only the long run has would else be in no run.
  const thorough = tests.filter((path) => /\bitIfThorough\(/.test(readFileSync(join(root, path), "utf8")));
  expect(thorough.filter((path) => !suites.some((suite) => path.startsWith(suite)))).toEqual([]);
});
