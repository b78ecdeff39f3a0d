import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { vectorsDirectory } from "../../vectors.ts";

/**
 * go-ethereum's public tool for peer-to-peer networks, which is no part of this repository:
 *
 *     go install -ldflags=-checklinkname=0 github.com/ethereum/go-ethereum/cmd/devp2p@v1.14.7
 *
 * DEVP2P_TOOL is its path. Its suite of eth needs a chain of its own, which lies with its sources, where that command
 * leaves them; DEVP2P_CHAIN names another folder.
 */
const TOOL = process.env["DEVP2P_TOOL"];

export const HAS_DEVP2P_TOOL = TOOL !== undefined;
export const SKIPPED_WITHOUT_TOOL = "(skipped unless DEVP2P_TOOL is the path of its devp2p)";

const SOURCES = "github.com/ethereum/go-ethereum@v1.14.7/cmd/devp2p/internal/ethtest/testdata";

/** The folder of the chain of the tool's suite of eth; undefined when it is not here. */
export const SUITE_CHAIN = [
  process.env["DEVP2P_CHAIN"],
  join(
    process.env["GOMODCACHE"] ?? join(process.env["GOPATH"] ?? join(homedir(), "go"), "pkg", "mod"),
    SOURCES,
  ),
  vectorsDirectory && join(vectorsDirectory, "geth-hivechain"),
].find((folder) => folder !== undefined && existsSync(join(folder, "headfcu.json")));

export const SKIPPED_WITHOUT_CHAIN =
  SUITE_CHAIN === undefined
    ? "(skipped: its chain is not here; DEVP2P_CHAIN names its folder)"
    : SKIPPED_WITHOUT_TOOL;

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
