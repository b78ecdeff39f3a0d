import { spawn } from "node:child_process";
import { request } from "node:http";
import { join } from "node:path";
import { anvilBinary } from "../../harness/anvilProcess.ts";
import { freePort, RpcFailure, startNodeProcess, until, watched } from "../../harness/nodeProcess.ts";
import { npmProject } from "../../harness/npmProject.ts";

export type NodeName = "ibex" | "anvil" | "hardhat";

/** A node for development, with the ten accounts of the usual words, chain 1337, and no base fee. */
export interface DevelopmentNode {
  readonly name: NodeName;
  readonly url: string;
  rpc<T>(method: string, params?: readonly unknown[]): Promise<T>;
  stop(): Promise<unknown>;
}

/** The newest anvil that npm installed; undefined when there is none for this platform. */
export async function startAnvil(): Promise<DevelopmentNode | undefined> {
  const binary = anvilBinary();
  if (binary === undefined) return undefined;
  const port = await freePort();
  const args = [
    ...["--port", `${port}`, "--silent", "--chain-id", "1337", "--hardfork", "prague"],
    ...["--gas-limit", "400000000", "--base-fee", "0", "--disable-min-priority-fee"],
  ];
  return answering("anvil", port, spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"] }));
}

/** Hardhat 2, which is installed from the registry of packages; undefined where that cannot be reached. */
export async function startHardhat(): Promise<DevelopmentNode | undefined> {
  const folder = await npmProject({ hardhat: "^2.26.0" }, { "hardhat.config.js": HARDHAT_CONFIG });
  if (folder === undefined) return undefined;
  const port = await freePort();
  const program = join(folder, "node_modules", "hardhat", "internal", "cli", "cli.js");
  const child = spawn(process.execPath, [program, "node", "--port", `${port}`], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HARDHAT_DISABLE_TELEMETRY_PROMPT: "true", CI: "1" },
  });
  return answering("hardhat", port, child);
}

/** Ibex as `npm start` runs it, with instant blocks, as the others have. */
export async function startIbex(): Promise<DevelopmentNode> {
  const node = await startNodeProcess({ options: ["--dev-instant-blocks"] });
  return {
    name: "ibex",
    url: node.httpUrl,
    rpc: (method, params = []) => ask(node.httpUrl, method, params),
    stop: node.stop,
  };
}

const HARDHAT_CONFIG = `module.exports = {
  solidity: "0.8.28",
  networks: {
    hardhat: { chainId: 1337, hardfork: "prague", initialBaseFeePerGas: 0, blockGasLimit: 400000000, loggingEnabled: false },
  },
};
`;

async function answering(
  name: NodeName,
  port: number,
  child: ReturnType<typeof spawn>,
): Promise<DevelopmentNode> {
  const { exit, output } = watched(child);
  const url = `http://127.0.0.1:${port}`;
  const answers = async () => {
    if (child.exitCode !== null) throw new Error(`${name} stopped with ${child.exitCode}:\n${output()}`);
    return ask<string>(url, "eth_blockNumber", []).catch(() => undefined);
  };
  await until(answers, `${name}'s first answer`);
  return {
    name,
    url,
    rpc: (method, params = []) => ask(url, method, params),
    stop: () => {
      child.kill("SIGTERM");
      return exit;
    },
  };
}

/** A request on a connection of its own: on one that was idle, a node may hang up just when it arrives. */
function ask<T>(url: string, method: string, params: readonly unknown[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: "POST", agent: false, headers: { "content-type": "application/json" } },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          text += part;
        });
        response.once("error", reject);
        response.once("end", () => {
          const answer = JSON.parse(text) as {
            readonly result?: T;
            readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
          };
          if (answer.error === undefined) resolve(answer.result as T);
          else reject(new RpcFailure(answer.error));
        });
      },
    );
    sent.once("error", reject);
    sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  });
}
