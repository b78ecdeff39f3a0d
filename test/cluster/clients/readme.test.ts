import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itIfThorough } from "../../thorough.ts";
import { foundryBinary } from "../harness/foundryProject.ts";
import { type NodeProcess, startNodeProcess, temporaryFolder } from "../harness/nodeProcess.ts";

/** The first transactions of the README, as they stand there, but for the node's address. */

const ROOT = resolve(import.meta.dirname, "..", "..", "..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const cast = foundryBinary("cast");

let node: NodeProcess;

beforeAll(async () => {
  node = await startNodeProcess();
});

afterAll(async () => {
  expect(await node?.stop()).toBe(0);
});

/** The first text in this language that has the word. */
function inReadme(language: string, word: string): string {
  const texts = [...README.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "gs"))];
  return texts.map(([, text = ""]) => text).find((text) => text.includes(word)) ?? "";
}

async function run(command: string, args: readonly string[], path: string): Promise<string> {
  const env = { ...process.env, NO_COLOR: "1", ETH_RPC_URL: node.httpUrl, PATH: path };
  const { stdout } = await promisify(execFile)(command, args, { env });
  return stdout;
}

describe("the first transactions of the README", () => {
  it.skipIf(cast === undefined)("pass with cast", async () => {
    const path = `${dirname(cast ?? "")}:${process.env["PATH"]}`;
    const output = await run("sh", ["-ec", inReadme("sh", "cast send")], path);
    expect(output).toMatch(/status +1 /);
    expect(output.trim().split("\n").at(-1)).toMatch(/^10001(\.0+)?$/);
  });

  itIfThorough("pass with viem", async () => {
    const folder = temporaryFolder();
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const program = join(folder, "first.mjs");
    writeFileSync(
      program,
      inReadme("ts", "createWalletClient").replace("http://localhost:8545", node.httpUrl),
    );
    const output = await run(process.execPath, [program], process.env["PATH"] ?? "");
    expect(output).toContain("status: 'success'");
  });
});
