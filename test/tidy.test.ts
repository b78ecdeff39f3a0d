import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Import, readSourceFiles, type SourceFile } from "../scripts/structure/sourceFiles.ts";

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
  "dev",
  "sync",
  "network",
  "rpc",
  "faucet",
  "explorer",
  "warmup",
  "ethstats",
];

/**
 * Rooms whose values a room may import: the layers of the house, downwards only. A room may always import itself. Types may come
 * from further rooms, see LAYERS.
 */
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
  permissioning: [...GROUND, "execution", "types", "chainspec"],
  consensus: [...GROUND, "ibft", "storage", "types"],
  dev: [...GROUND, "ibft", "chain", "storage", "state", "types"],
  sync: [...GROUND, "types", "chainspec"],
  network: [...GROUND, "types", "chainspec"],
  rpc: [
    ...GROUND,
    "workers",
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
  faucet: [...GROUND, "storage", "types"],
  explorer: [...GROUND, "workers", "faucet", "rpc"],
  warmup: [...GROUND, "workers", "rpc", "txpool", "chain", "state", "storage", "types", "chainspec"],
  ethstats: [...GROUND, "types"],
  config: [...GROUND, ...BELOW_ASSEMBLY],
  callers: [
    ...GROUND,
    "workers",
    "rpc",
    "explorer",
    "warmup",
    "accounts",
    "calls",
    "logs",
    "chain",
    "execution",
    "storage",
    "types",
    "chainspec",
    "config",
  ],
  node: [...GROUND, ...BELOW_ASSEMBLY, "config", "callers"],
  cli: [...GROUND, ...BELOW_ASSEMBLY, "config", "callers", "node"],
  "main.ts": ["program.ts"],
  "program.ts": [...GROUND, "storage", "config", "cli", "node"],
};

/**
 * The layers from the ground upwards. A room may import types of any room of its own layer and of lower ones, as long as no rooms
 * end up bound to each other in a circle. Only the protocol's rules keep to the rooms named above.
 */
const LAYERS: readonly (readonly string[])[] = [
  ["primitives", "observability", "workers"],
  ["types", "chainspec"],
  ["ibft"],
  ["storage", "state"],
  ["evm", "execution", "tracers", "chain", "calls", "logs", "accounts", "txpool", "permissioning", "faucet"],
  ["consensus", "dev", "sync", "network"],
  ["rpc", "explorer", "warmup", "ethstats"],
  ["config", "callers", "node", "cli", "main.ts", "program.ts"],
];

/** Packages that only named folders (or files) may use. */
const PACKAGE_HOMES: Readonly<Record<string, readonly string[]>> = {
  "classic-level": ["storage/leveldb/levelDatabase.ts"],
  "@ethereumjs/wallet": ["node/keys/keystore.ts"],
  fastify: ["rpc/server/", "callers/", "node/"],
  graphql: ["rpc/graphql/"],
  ws: ["rpc/server/", "ethstats/reporter.ts"],
  secp256k1: ["primitives/"],
  "hyparquet-writer": ["cli/data/files/parquetFile.ts"],
  "hash-wasm": ["execution/precompiles/hashes.ts"],
  "mcl-wasm": ["execution/precompiles/"],
  snappyjs: ["network/rlpx/"],
  "smol-toml": ["config/", "permissioning/"],
  bcryptjs: ["callers/access/passwordWorker.ts", "cli/commands/password.ts"],
  jose: ["rpc/access/", "callers/access/"],
};

/** Compiled by AssemblyScript, whose imports have no file extension. */
const CORE = "evm/core/";
/** What runs in browsers, of packages that are bundled. */
const PAGE = "explorer/page/";

const files: readonly SourceFile[] = readSourceFiles(src).filter(({ path }) => !path.startsWith(CORE));

function layerOf(room: string): number {
  return LAYERS.findIndex((rooms) => rooms.includes(room));
}

function mayImport(file: SourceFile, { kind, target }: Import): boolean {
  const [room = target] = target.split("/");
  if (room === file.room || target === "nodeVersion.mjs") return true;
  if (MAY_IMPORT[file.room]?.includes(room) === true) return true;
  return kind === "type" && file.room !== "ibft" && layerOf(room) <= layerOf(file.room);
}

function fileImports(file: SourceFile): readonly Import[] {
  return file.imports.filter(({ isFile }) => isFile);
}

describe("the house is tidy", () => {
  it("has the folders that the table of layers knows, and no others", () => {
    const unknown = files
      .filter(({ room }) => MAY_IMPORT[room] === undefined || layerOf(room) < 0)
      .map(({ path }) => path);
    expect(unknown).toEqual([]);
  });

  it("imports only downwards, and types from its own layer", () => {
    const wrong = files.flatMap((file) =>
      fileImports(file)
        .filter((each) => !mayImport(file, each))
        .map(({ kind, target }) => `${file.path} -> ${target} (${kind})`),
    );
    expect(wrong).toEqual([]);
  });

  it("has no circles between files, those of types and of what is loaded later included", () => {
    const edges = new Map(files.map((file) => [file.path, fileImports(file).map(({ target }) => target)]));
    expect(findCircles(edges)).toEqual([]);
  });

  it("has no circles between rooms, those of types included", () => {
    const edges = new Map<string, Set<string>>();
    for (const file of files) {
      const targets = edges.get(file.room) ?? new Set();
      edges.set(file.room, targets);
      for (const { target } of fileImports(file)) {
        const [room = target] = target.split("/");
        if (room !== file.room) targets.add(room);
      }
    }
    expect(findCircles(new Map([...edges].map(([room, targets]) => [room, [...targets]])))).toEqual([]);
  });

  it("uses a package only where it lives, and only if package.json names it", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
      devDependencies: Record<string, string>;
    };
    const wrong = files.flatMap((file) =>
      file.imports
        .filter(({ isFile, target }) => !isFile && !target.startsWith("node:"))
        .filter(({ target }) => {
          const parts = target.split("/");
          const name = target.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? target);
          const homes = PACKAGE_HOMES[name];
          const isHome = homes === undefined || homes.some((home) => file.path.startsWith(home));
          const isPage = file.path.startsWith(PAGE);
          const named = isPage ? manifest.devDependencies : manifest.dependencies;
          return !isHome || named[name] === undefined;
        })
        .map(({ target }) => `${file.path} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it("keeps the protocol pure: no promise, clock, chance or I/O in src/ibft", () => {
    const impure = files
      .filter(({ room }) => room === "ibft")
      .filter(
        ({ text, imports }) =>
          /\basync\b|\bPromise\b|Date\.now|Math\.random|setTimeout|process\./.test(text) ||
          imports.some(({ target }) => target.startsWith("node:")),
      )
      .map(({ path }) => path);
    expect(impure).toEqual([]);
  });

  it("reads the wall clock and the environment only at the edges", () => {
    const edges = ["node/", "cli/", "program.ts", "primitives/clock.ts", "config/", `${PAGE}chain/clock.ts`];
    const wrong = files
      .filter(({ path }) => !edges.some((edge) => path.startsWith(edge)))
      .filter(({ text }) => /Date\.now\(|Math\.random\(|process\.env/.test(text))
      .map(({ path }) => path);
    expect(wrong).toEqual([]);
  });

  it("marks a folder for development, and writes its chain, in the room for that alone", () => {
    const marking = files.filter(({ text }) => /\bMarkedFolder\.mark\(/.test(text)).map(({ path }) => path);
    expect(marking).toEqual(["dev/development.ts"]);
    const writing = files
      .filter(({ text }) => /\.development(Writer|Run)\(/.test(text))
      .map(({ path }) => path);
    expect(writing).toEqual(["dev/development.ts"]);
    const making = files
      .filter(({ text }) => /\bnew (DevelopmentWriter|BlockMaker|Development)\(/.test(text))
      .map(({ path }) => path);
    expect(making).toEqual([
      ...["chain/createChain.ts", "chain/developmentRun.ts"],
      ...["dev/blockMaker.ts", "dev/development.ts", "node/openDevelopment.ts"],
    ]);
  });

  it("starts worker threads in one place", () => {
    const starting = files.filter(({ text }) => /\bnew Worker\(/.test(text)).map(({ path }) => path);
    expect(starting).toEqual(["workers/workerThread.ts"]);
  });

  it.each([
    [
      "node/node.ts",
      [
        "dev/",
        "chain/developmentRun.ts",
        "chain/developmentWriter.ts",
        "ethstats/",
        "network/network.ts",
        "rpc/server/http.ts",
        "rpc/graphql/schema.ts",
      ],
    ],
    [
      "callers/threads/callerThread.ts",
      ["dev/", "ethstats/", "rpc/server/ipc.ts", "rpc/graphql/", "explorer/"],
    ],
  ])("does not have %s load what is off", (start, places) => {
    const loaded = [...loadedFrom(start)];
    expect(loaded.length).toBeGreaterThan(100);
    expect(loaded.filter((path) => places.some((place) => path.startsWith(place)))).toEqual([]);
  });

  it("has no drawers and no barrels", () => {
    expect(
      files
        .filter(({ path }) => /(^|\/)(utils?|helpers?|common|misc|index)(\.ts|\/)/.test(path))
        .map(({ path }) => path),
    ).toEqual([]);
  });
});

/** The files that are loaded with this one, without waiting for anything. */
function loadedFrom(start: string): ReadonlySet<string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const loaded = new Set([start]);
  for (const path of loaded)
    for (const { kind, target } of byPath.get(path)?.imports ?? []) if (kind === "value") loaded.add(target);
  return loaded;
}

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
