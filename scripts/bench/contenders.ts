import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { createRpcClient } from "./httpClient.ts";

export type ContenderName = "ibex" | "anvil" | "geth";

/** A node under measurement, with its own process and port. */
export interface Contender {
  readonly name: ContenderName;
  readonly port: number;
  /** For WebSocket; anvil has one port for both. */
  readonly wsPort: number;
  /** Milliseconds from spawn to the first JSON-RPC answer. */
  readonly firstAnswerMs: number;
  readonly dataPath: string | undefined;
  readonly pid: number | undefined;
  /** Resident memory of the process, MB. */
  residentMb(): number;
  /** CPU seconds (user and system) that the process has used. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

/** A node whose main thread is blocked handles no signal. */
const STOPPED_WITHIN_MS = 15_000;
export const ACCOUNT_MNEMONIC = "test test test test test test test test test test test junk";
export const root = resolve(import.meta.dirname, "..", "..", "..", "..");

/** The built program. */
export const IBEX = join(root, "dist", "main.js");

/** Starts the node on its development network. A given folder is kept; a temporary one is removed at the end. */
export async function startIbex(
  existingDataPath?: string,
  moreOptions: readonly string[] = [],
): Promise<Contender> {
  const dataPath = existingDataPath ?? mkdtempSync(join(tmpdir(), "ibex-bench-"));
  const contender = await startProgram(dataPath, ["--logging=WARN", ...moreOptions]);
  return {
    ...contender,
    async stop() {
      await contender.stop();
      if (existingDataPath === undefined) rmSync(dataPath, { recursive: true, force: true });
    },
  };
}

/**
 * Starts the program in a folder on free ports; its log goes to `logFile`, if given. `nodeOptions` are for Node.js itself, and
 * `launcher` are words before the command, of a program that becomes it.
 */
export async function startProgram(
  dataPath: string,
  options: readonly string[],
  logFile?: string,
  nodeOptions: readonly string[] = [],
  launcher: readonly string[] = [],
  program: string = IBEX,
): Promise<Contender> {
  const [port, wsPort] = [await freePort(), await freePort()];
  const profileFolder = process.env["BENCH_PROFILE"];
  const runtimeOptions = profileFolder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileFolder}`];
  const ports = [`--rpc-http-port=${port}`, `--rpc-ws-port=${wsPort}`];
  // As `npm start` starts it.
  const [command = process.execPath, ...words] = [
    ...launcher,
    process.execPath,
    "--max-semi-space-size=64",
    ...runtimeOptions,
    ...nodeOptions,
    program,
    `--data-path=${dataPath}`,
    ...ports,
    ...options,
  ];
  return start("ibex", command, words, { port, wsPort, dataPath, logFile }, ALLOCATOR);
}

/** The settings of the C library's allocator with which the node is started, unless the environment has others. */
const ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: "65536", MALLOC_TRIM_THRESHOLD_: "1048576", ...process.env };

/** In each block; it never fills. */
const GAS_LIMIT = 1_000_000_000;

/** Starts the only validator of a network as an operator would, without an explorer, with the gas limit of anvil. */
export async function startIbexAsValidator(): Promise<Contender> {
  const folder = mkdtempSync(join(tmpdir(), "ibex-bench-"));
  const genesis: object = JSON.parse(readFileSync(join(root, "genesis", "dev.json"), "utf8"));
  const genesisFile = join(folder, "genesis.json");
  writeFileSync(genesisFile, JSON.stringify({ ...genesis, gasLimit: `0x${GAS_LIMIT.toString(16)}` }));
  const contender = await startProgram(join(folder, "data"), [
    "--logging=WARN",
    `--genesis-file=${genesisFile}`,
    `--node-private-key-file=${join(root, "genesis", "dev.key")}`,
    "--p2p-enabled=false",
    "--rpc-http-enabled",
    "--rpc-http-api=ETH,NET,WEB3,TXPOOL,DEBUG",
    "--rpc-ws-enabled",
    "--min-gas-price=0",
    "--tx-pool-min-gas-price=0",
  ]);
  return {
    ...contender,
    async stop() {
      await contender.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts anvil in memory, with blocks of one second and a gas limit that never fills. */
export async function startAnvil(): Promise<Contender> {
  const port = await freePort();
  const options = [
    "--port",
    `${port}`,
    "--block-time",
    "1",
    "--gas-limit",
    `${GAS_LIMIT}`,
    "--base-fee",
    "0",
    "--silent",
  ];
  const words = [...options, "--mnemonic", ACCOUNT_MNEMONIC, "--chain-id", "1337"];
  return start("anvil", anvilBinary(), words, { port, wsPort: port });
}

/** Starts anvil as builders do: in memory, with a block for each transaction. */
export async function startInstantAnvil(): Promise<Contender> {
  const port = await freePort();
  const words = ["--port", `${port}`, "--silent", "--mnemonic", ACCOUNT_MNEMONIC, "--chain-id", "1337"];
  return start("anvil", anvilBinary(), words, { port, wsPort: port });
}

/** go-ethereum's node: GO_GETH, else `geth` on the path. */
const GETH_COMMAND = process.env["GO_GETH"] ?? "geth";

export function isGethInstalled(): boolean {
  return spawnSync(GETH_COMMAND, ["version"]).status === 0;
}

/**
 * Starts geth in memory, with blocks of one second and GraphQL on the port of JSON-RPC. It has a funded account of its own, for which
 * it signs.
 */
export async function startGeth(): Promise<Contender> {
  const port = await freePort();
  const words = [
    "--dev",
    "--dev.period=1",
    "--dev.gaslimit=30000000",
    "--miner.gasprice=1",
    "--txpool.pricelimit=1",
    "--txpool.accountslots=4096",
    "--http",
    `--http.port=${port}`,
    "--graphql",
    `--authrpc.port=${await freePort()}`,
    "--ipcdisable",
    "--nodiscover",
    "--port=0",
    "--verbosity=1",
  ];
  return start("geth", GETH_COMMAND, words, { port, wsPort: port });
}

async function start(
  name: ContenderName,
  command: string,
  options: readonly string[],
  {
    port,
    wsPort,
    dataPath,
    logFile,
  }: {
    readonly port: number;
    readonly wsPort: number;
    readonly dataPath?: string;
    readonly logFile?: string | undefined;
  },
  env: NodeJS.ProcessEnv = process.env,
): Promise<Contender> {
  const startedAtMs = performance.now();
  const output = logFile === undefined ? "ignore" : openSync(logFile, "a");
  const child = spawn(command, options, { stdio: ["ignore", output, "pipe"], env });
  if (typeof output === "number") closeSync(output);
  const said = keepLast(child.stderr);
  let isStopping = false;
  child.once("close", (code, signal) => {
    if (!isStopping) console.error(`${name} ended by itself (${code ?? signal}):\n${said()}`);
  });
  const client = createRpcClient(port, 1);
  const deadlineMs = startedAtMs + 60_000;
  // A refusal for want of a token or of TLS is an answer, too.
  while (!(await answers(client.post(FIRST_REQUEST)))) {
    if (child.exitCode !== null || performance.now() > deadlineMs)
      throw new Error(`${name} did not start:\n${said()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  client.close();
  return {
    name,
    port,
    wsPort,
    dataPath,
    pid: child.pid,
    firstAnswerMs: performance.now() - startedAtMs,
    residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(readProc(child, "status"))?.[1] ?? 0) / 1024,
    cpuSeconds: () => {
      const [userTicks = 0, systemTicks = 0] = (readProc(child, "stat").split(") ")[1] ?? "")
        .split(" ")
        .slice(11, 13)
        .map(Number);
      return (userTicks + systemTicks) / 100;
    },
    stop: () =>
      new Promise((resolve) => {
        isStopping = true;
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        const killTimer = setTimeout(() => child.kill("SIGKILL"), STOPPED_WITHIN_MS);
        child.once("exit", () => {
          clearTimeout(killTimer);
          resolve();
        });
        child.kill("SIGTERM");
      }),
  };
}

/** The end of what a program says beside its log: it greets there, which is not worth printing, and tells why it ends. */
function keepLast(stream: Readable | null): () => string {
  let text = "";
  stream?.setEncoding("utf8").on("data", (more: string) => {
    text = (text + more).slice(-KEPT_CHARACTERS);
  });
  return () => text;
}

const KEPT_CHARACTERS = 8192;
const FIRST_REQUEST = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}';

async function answers(request: Promise<unknown>): Promise<boolean> {
  return request.then(
    () => true,
    () => false,
  );
}

function readProc(child: ChildProcess, file: string): string {
  return readFileSync(`/proc/${child.pid}/${file}`, "utf8");
}

/** The binary itself, so that signals and memory figures are not those of the package's launcher. */
function anvilBinary(): string {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const manifest = createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${platform}/package.json`);
  return join(manifest, "..", "bin", "anvil");
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address !== null
          ? resolve(address.port)
          : reject(new Error("no port")),
      );
    });
  });
}
