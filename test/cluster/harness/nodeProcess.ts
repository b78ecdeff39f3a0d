import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { HANG_MS } from "../../hang.ts";

/** The built program, as an operator runs it. `npm test` builds it first. */
export const PROGRAM = resolve(import.meta.dirname, "..", "..", "..", "dist", "main.js");

/** A real node in a process of its own. */
export interface NodeProcess {
  readonly dataPath: string;
  readonly httpUrl: string;
  readonly wsUrl: string;
  readonly httpPort: number;
  readonly wsPort: number;
  readonly child: ChildProcess;
  /** The exit code, once the process has ended. */
  readonly exit: Promise<number | null>;
  /** Everything printed so far, both streams. */
  output(): string;
  rpc<T>(method: string, params?: readonly unknown[]): Promise<T>;
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
}

export interface NodeOptions {
  readonly dataPath?: string;
  readonly httpPort?: number;
  readonly options?: readonly string[];
  /** For Node.js itself. */
  readonly runtimeOptions?: readonly string[];
  /** Another file than PROGRAM. */
  readonly program?: string;
  /** Whether the program may be of 0.2.0, which has no explorer. */
  readonly isOlder?: boolean;
}

const UNAUTHORIZED = -40100;

/** Starts a node on the development network and waits for its first answer. */
export async function startNodeProcess(settings: NodeOptions = {}): Promise<NodeProcess> {
  const dataPath = settings.dataPath ?? temporaryFolder();
  const httpPort = settings.httpPort ?? (await freePort());
  const wsPort = await freePort();
  const options = [
    `--data-path=${dataPath}`,
    `--rpc-http-port=${httpPort}`,
    `--rpc-ws-port=${wsPort}`,
    // It would take a thread of each node.
    ...(settings.isOlder === true || settings.options?.some((each) => each.startsWith("--explorer-"))
      ? []
      : ["--explorer-enabled=false"]),
  ];
  const started = runProgram(
    [...options, ...(settings.options ?? [])],
    undefined,
    settings.runtimeOptions,
    settings.program,
  );
  const node: NodeProcess = {
    dataPath,
    httpPort,
    wsPort,
    httpUrl: `http://127.0.0.1:${httpPort}`,
    wsUrl: `ws://127.0.0.1:${wsPort}`,
    child: started.child,
    exit: started.exit,
    output: started.output,
    rpc: (method, params = []) => rpc(`http://127.0.0.1:${httpPort}`, method, params),
    async stop() {
      started.child.kill("SIGTERM");
      return started.exit;
    },
    async kill() {
      started.child.kill("SIGKILL");
      await started.exit;
    },
  };
  const deadlineMs = Date.now() + HANG_MS;
  while (!(await isAnswering(node))) {
    if (started.child.exitCode !== null)
      throw new Error(`the node stopped with ${started.child.exitCode}:\n${started.output()}`);
    if (Date.now() > deadlineMs) {
      started.child.kill("SIGKILL");
      throw new Error(`the node does not answer:\n${started.output()}`);
    }
    await pause(POLL_MS);
  }
  return node;
}

export interface RunningProgram {
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  output(): string;
}

const running = new Set<ChildProcess>();

/** Kills the programs that failed tests did not stop. */
export function killRunning(): void {
  for (const child of running) child.kill("SIGKILL");
}
process.once("exit", killRunning);

/** Signals that no test sends. */
const FAULTS: readonly NodeJS.Signals[] = ["SIGABRT", "SIGBUS", "SIGILL", "SIGSEGV", "SIGTRAP"];

/** Runs the program with these arguments, without waiting for anything. */
export function runProgram(
  options: readonly string[],
  cwd?: string,
  runtimeOptions: readonly string[] = [],
  program: string = PROGRAM,
): RunningProgram {
  const child = spawn(process.execPath, [...runtimeOptions, program, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
    ...(cwd !== undefined && { cwd }),
  });
  return watched(child);
}

/** Gathers what a program prints, until its end, before which a failed test may leave it to killRunning. */
export function watched(child: ChildProcess): RunningProgram {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  }
  const exit = new Promise<number | null>((resolve) => {
    child.once("close", (code, signal) => {
      // A test sees no more than a missing code; a program that ended by a fault says why.
      if (signal !== null && FAULTS.includes(signal))
        console.error(`ended by ${signal}:\n${output.slice(-4000)}`);
      resolve(code);
    });
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  return { child, exit, output: () => output };
}

/** The exit code of a program that was told to stop; throws if it is still running after `withinMs`. */
export function exitWithin(program: RunningProgram, withinMs: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(
      () => reject(new Error(`the program did not end within ${withinMs} ms:\n${program.output()}`)),
      withinMs,
    );
    void program.exit.then((code) => {
      clearTimeout(deadline);
      resolve(code);
    });
  });
}

/** Zombies, which nobody waits for where the test runs in a container, have ended. */
export function isRunning(processId: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${processId}/status`, "utf8"));
  } catch {
    return false;
  }
}

export class RpcFailure extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(error: { code: number; message: string; data?: unknown }) {
    super(error.message);
    this.code = error.code;
    this.data = error.data;
  }
}

export async function rpc<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const answer = (await response.json()) as {
    result?: T;
    error?: { code: number; message: string; data?: unknown };
  };
  if (answer.error !== undefined) throw new RpcFailure(answer.error);
  return answer.result as T;
}

/** The node's log lines: `timestamp`, `level`, `class`, `message` and the facts. */
export function logOf(node: Pick<NodeProcess, "output">): readonly LogLine[] {
  return node
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{") && line.endsWith("}"))
    .map((line) => JSON.parse(line) as LogLine);
}

export interface LogLine {
  readonly timestamp: string;
  readonly level: string;
  readonly class: string;
  readonly message: string;
  readonly [fact: string]: unknown;
}

/** A folder that is removed after all tests (test/ownFolder.ts). */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "ibex-test-"));
}

/**
 * A free port: another one each time, outside of the system's range for connections, from a range that is this process's alone
 * until it ends. So nobody takes it before the program listens on it, or while a program that will have it again is stopped.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = portsLeft.pop();
    if (port === undefined) await reserveRange();
    else if (await isFree(port)) return port;
  }
}

/** Above 10080, the highest of the ports that fetch and browsers refuse to connect to (Fetch standard, “port blocking”). */
const FIRST_PORT = 11_000;
const PORTS = 9_000;
/** A process listens on the first port of each of its ranges, which tells others, those of another run included. */
const RANGE_PORTS = 50;
const portsLeft: number[] = [];
/** Processes that start together begin to look at ranges that are far from one another. */
let rangesTried = process.pid * 37;

async function reserveRange(): Promise<void> {
  const first = FIRST_PORT + ((rangesTried++ * RANGE_PORTS) % PORTS);
  const mark = await listen(first);
  // It is held until this process ends, and does not keep it alive.
  mark?.unref();
  if (mark !== undefined)
    portsLeft.push(...Array.from({ length: RANGE_PORTS - 1 }, (_, index) => first + RANGE_PORTS - 1 - index));
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** Undefined where another program listens. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(undefined));
    server.listen(port, () => resolve(server));
  });
}

/** Between two questions whether something has happened; they take of the processors that it waits for. */
const POLL_MS = 50;

/** Polls until `condition` gives a value; polling, because it waits for another process. */
export async function until<T>(condition: () => Promise<T | undefined>, what: string): Promise<T> {
  const deadlineMs = Date.now() + HANG_MS;
  for (;;) {
    const value = await condition();
    if (value !== undefined) return value;
    if (Date.now() > deadlineMs) throw new Error(`${what} did not happen`);
    await pause(POLL_MS);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A node that asks for a token answers, too. */
async function isAnswering(node: NodeProcess): Promise<boolean> {
  return node.rpc("eth_blockNumber").then(
    () => true,
    (error: unknown) => error instanceof RpcFailure && error.code === UNAUTHORIZED,
  );
}
