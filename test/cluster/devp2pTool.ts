import { spawn } from "node:child_process";

/**
 * go-ethereum's public tool for peer-to-peer networks, which is no part of this repository:
 *
 *     go install -ldflags=-checklinkname=0 github.com/ethereum/go-ethereum/cmd/devp2p@v1.14.7
 *
 * DEVP2P_TOOL is its path.
 */
const TOOL = process.env["DEVP2P_TOOL"];

export const HAS_DEVP2P_TOOL = TOOL !== undefined;
export const SKIPPED_WITHOUT_TOOL = "(skipped unless DEVP2P_TOOL is the path of its devp2p)";

/** Runs the tool to its end; everything that it printed. */
export function runDevp2pTool(options: readonly string[]): Promise<string> {
  const child = spawn(TOOL ?? "", options, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(output));
  });
}
