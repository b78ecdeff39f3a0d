import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, it } from "vitest";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY_FILE } from "../../../src/config/devNetwork.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { freePort, isRunning, PROGRAM, rpc, temporaryFolder, until } from "../harness/nodeProcess.ts";

/** Of util-linux: runs a command on a terminal of its own, which ends with it. */
const SCRIPT = "/usr/bin/script";

let nodeId: number | undefined;

afterEach(() => {
  if (nodeId !== undefined && isRunning(nodeId)) process.kill(nodeId, "SIGKILL");
  nodeId = undefined;
});

interface OnTerminal {
  readonly terminal: ChildProcess;
  readonly nodeId: number;
  readonly blockNumber: () => Promise<bigint>;
}

async function startOnTerminal(
  options: readonly string[],
  program: readonly string[] = [process.execPath, PROGRAM],
): Promise<OnTerminal> {
  const folder = temporaryFolder();
  const pidFile = join(folder, "node.pid");
  const port = await freePort();
  const all = [
    `--data-path=${folder}`,
    `--pid-path=${pidFile}`,
    `--rpc-http-port=${port}`,
    `--rpc-ws-port=${await freePort()}`,
    ...options,
  ];
  const command = [...program, ...all].map((word) => `'${word}'`).join(" ");
  const terminal = spawn(SCRIPT, ["-qc", `exec ${command}`, "/dev/null"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  terminal.stdout.resume();
  const written = await until(
    async () => (existsSync(pidFile) ? readFileSync(pidFile, "utf8") : undefined),
    "a pid file",
  );
  nodeId = Number(written);
  const blockNumber = async (): Promise<bigint> =>
    BigInt(await rpc<string>(`http://127.0.0.1:${port}`, "eth_blockNumber", []));
  return { terminal, nodeId, blockNumber };
}

const ended = (id: number): Promise<true> =>
  until(async () => (isRunning(id) ? undefined : true), "the end of the node");

describe.runIf(IS_THOROUGH && existsSync(SCRIPT))("a node whose terminal is closed", () => {
  it("ends if it is the development network's", async () => {
    const { terminal, nodeId } = await startOnTerminal([]);
    terminal.kill("SIGKILL");
    await ended(nodeId);
  });

  it("ends if it is the development network's under npm start", async () => {
    const { terminal, nodeId } = await startOnTerminal([], ["npm", "start", "--"]);
    terminal.kill("SIGKILL");
    await ended(nodeId);
  });

  it("goes on if it is any other", async () => {
    const { terminal, nodeId, blockNumber } = await startOnTerminal([
      `--genesis-file=${DEV_GENESIS_FILE}`,
      `--node-private-key-file=${DEV_VALIDATOR_KEY_FILE}`,
      "--rpc-http-enabled",
      "--p2p-enabled=false",
    ]);
    const before = await blockNumber();
    terminal.kill("SIGKILL");
    await until(
      async () => ((await blockNumber()) > before + 3n ? true : undefined),
      "blocks after the hang-up",
    );
    process.kill(nodeId, "SIGTERM");
    await ended(nodeId);
  });

  it("rereads its configuration, if it still has its terminal", async () => {
    const { terminal, nodeId } = await startOnTerminal([]);
    let output = "";
    terminal.stdout?.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
    process.kill(nodeId, "SIGHUP");
    await until(
      async () => (output.includes("the configuration was reread") ? true : undefined),
      "an answer to SIGHUP",
    );
    process.kill(nodeId, "SIGTERM");
    await ended(nodeId);
  });
});
