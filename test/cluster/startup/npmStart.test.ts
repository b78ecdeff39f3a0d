import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { IS_THOROUGH, itIfThorough, someOf } from "../../thorough.ts";
import { freePort, isRunning, rpc, temporaryFolder, until } from "../harness/nodeProcess.ts";

const ROOT = resolve(import.meta.dirname, "..", "..", "..");
/** Only hangs reach them. A start in a fresh clone installs and builds. */
/** That of a package manager, which a test must not inherit from the npm that runs it. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

/** The program that gives another one a terminal (util-linux). */
const SCRIPT = "/usr/bin/script";

interface Started {
  readonly npm: ChildProcess;
  readonly dataPath: string;
  /** The exit code of npm, and whether the node was still there when npm ended. */
  readonly end: Promise<{ readonly code: number | null; readonly isNodeThere: boolean }>;
  readonly output: () => string;
  readonly height: () => Promise<bigint>;
}

/** In groups of their own: what a failed test left ends with its group. */
const groups: number[] = [];

afterEach(() => {
  for (const group of groups.splice(0)) {
    try {
      process.kill(-group, "SIGKILL");
    } catch {
      // All of it has ended.
    }
  }
});

/** Runs `npm start` in a clone, as a user does, and waits until the node answers. */
async function npmStart(clone: string): Promise<Started> {
  const dataPath = temporaryFolder();
  const pidFile = join(dataPath, "node.pid");
  const port = await freePort();
  const options = [
    `--data-path=${dataPath}`,
    `--pid-path=${pidFile}`,
    `--rpc-http-port=${port}`,
    `--rpc-ws-port=${await freePort()}`,
    "--explorer-enabled=false",
  ];
  const npm = spawn("npm", ["start", "--", ...options], {
    cwd: clone,
    env: ENVIRONMENT,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  if (npm.pid !== undefined) groups.push(npm.pid);
  let output = "";
  for (const stream of [npm.stdout, npm.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  const height = async (): Promise<bigint> =>
    BigInt(await rpc<string>(`http://127.0.0.1:${port}`, "eth_blockNumber", []));
  await until(async () => {
    if (npm.exitCode !== null) throw new Error(`npm ended with ${npm.exitCode}:\n${output}`);
    return existsSync(pidFile) ? height().catch(() => undefined) : undefined;
  }, "an answer of the node");
  const nodeId = Number(readFileSync(pidFile, "utf8"));
  const end = new Promise<{ code: number | null; isNodeThere: boolean }>((ended) =>
    npm.once("exit", (code) => ended({ code, isNodeThere: isRunning(nodeId) })),
  );
  return { npm, dataPath, end, output: () => output, height };
}

describe("npm start", () => {
  it.each(someOf(["SIGTERM", "SIGINT"] as const))(
    "hands %s to the node, which stops cleanly, and ends after it with its exit code",
    async (signal) => {
      const { npm, end, output, dataPath } = await npmStart(ROOT);
      npm.kill(signal);
      expect(await end).toEqual({ code: 0, isNodeThere: false });
      expect(output()).toContain('"message":"stopped"');
      expect(existsSync(join(dataPath, "node.pid"))).toBe(false);
    },
  );

  itIfThorough(
    "goes on while npm test is set up beside it, which adds packages and takes none away",
    async () => {
      const clone = freshClone();
      const { npm, end, height } = await npmStart(clone);
      const before = filesOf(join(clone, "node_modules"));
      expect(before.has("vitest/package.json")).toBe(false);
      const built = readFileSync(join(clone, "dist", ".built"), "utf8");
      await runNpm(clone, "run", "pretest");
      const after = filesOf(join(clone, "node_modules"));
      expect(after.has("vitest/package.json")).toBe(true);
      const changed = [...before].filter(([path, identity]) => after.get(path) !== identity);
      expect(changed.map(([path]) => path)).toEqual([]);
      expect(readFileSync(join(clone, "dist", ".built"), "utf8")).toBe(built);

      // The node's own packages are all there now: the next start installs nothing, and takes no test tools away.
      await runNpm(clone, "run", "prestart");
      expect(filesOf(join(clone, "node_modules"))).toEqual(after);

      const seen = await height();
      await until(async () => ((await height()) > seen + 1n ? true : undefined), "blocks after the set-up");
      npm.kill("SIGTERM");
      expect(await end).toEqual({ code: 0, isNodeThere: false });
    },
  );
});

describe("at a terminal", () => {
  it.runIf(IS_THOROUGH && existsSync(SCRIPT))(
    "npm start and the program itself say the same, in lines for people, and in JSON where LOGGER asks for it",
    async () => {
      const program = `${process.execPath} ${join(ROOT, "dist", "main.js")}`;
      const byNpm = await outputAtTerminal("npm start --", {});
      const byProgram = await outputAtTerminal(program, {});
      expect(wordsOf(byNpm)).toEqual(wordsOf(byProgram));
      expect(wordsOf(byProgram)).toContain("Ctrl-C stops the node. --help shows the options.");
      expect(byProgram).not.toContain('{"level"');
      const asJson = await outputAtTerminal(program, { LOGGER: "Json" });
      expect(asJson).toContain('"message":"Ethereum main loop is up."');
    },
  );
});

/** All that a start prints at a terminal of its own until it is up; then it is stopped. */
async function outputAtTerminal(
  command: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = temporaryFolder();
  const options = [
    `--data-path=${join(folder, "data")}`,
    `--rpc-http-port=${await freePort()}`,
    `--rpc-ws-port=${await freePort()}`,
    "--explorer-enabled=false",
  ];
  const terminal = spawn(SCRIPT, ["-qec", `${command} ${options.join(" ")}`, "/dev/null"], {
    cwd: ROOT,
    env: { ...ENVIRONMENT, ...environment, NO_COLOR: "1" },
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  if (terminal.pid !== undefined) groups.push(terminal.pid);
  let output = "";
  terminal.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  await until(async () => (output.includes("main loop is up") ? true : undefined), "the end of the start");
  const ended = new Promise((resolve) => terminal.once("close", resolve));
  terminal.stdin.write(CTRL_C);
  await ended;
  return output;
}

/** The text between the start and the first block, without what differs from one start to the next. */
function wordsOf(output: string): readonly string[] {
  const lines = output.split(/\r?\n/);
  const from = lines.findIndex((line) => line.startsWith("Ibex runs"));
  const to = lines.findIndex((line) => line.includes("main loop is up"));
  return lines.slice(from, to).map((line) => line.replace(/:\d+$|\/\S*ibex-test-\S*/, ""));
}

const CTRL_C = "\u0003";

/** The sources as a clone has them: nothing installed, nothing built, nothing beside it. */
function freshClone(): string {
  const clone = join(temporaryFolder(), "clone");
  mkdirSync(clone);
  const left = new Set(["node_modules", "dist", ".git", "test"]);
  for (const name of readdirSync(ROOT))
    if (!left.has(name)) cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  return clone;
}

/** Which file each path is, below a folder; npm's own list aside, which names what is installed. */
function filesOf(folder: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || entry.name === ".package-lock.json") continue;
    const { ino, size, mtimeMs } = statSync(path);
    files.set(path.slice(folder.length + 1), `${ino} ${size} ${mtimeMs}`);
  }
  return files;
}

async function runNpm(cwd: string, ...args: readonly string[]): Promise<void> {
  const npm = spawn("npm", args, { cwd, env: ENVIRONMENT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [npm.stdout, npm.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  const code = await new Promise((resolve) => npm.once("close", resolve));
  if (code !== 0) throw new Error(`npm ${args.join(" ")} ended with ${String(code)}:\n${output}`);
}
