import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import { IN_REAL_TIME } from "../realTime.ts";
import { itIfThorough } from "../thorough.ts";
import { pause, temporaryFolder, until } from "./nodeProcess.ts";

const SCRIPT = resolve(import.meta.dirname, "..", "..", "scripts", "localnet.mjs");

for (const signal of ["SIGINT", "SIGHUP"] as const)
  itIfThorough(
    `npm run localnet creates a network, prints its status, and leaves no process behind after ${signal}`,
    { ...IN_REAL_TIME, timeout: 120_000 },
    async () => {
      const folder = join(temporaryFolder(), "network");
      const firstPort = 20_000 + (process.pid % 5_000);
      const options = [SCRIPT, `--folder=${folder}`, `--first-port=${firstPort}`];
      const child = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "inherit"] });
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString("utf8");
      });
      const exit = new Promise((done) => child.once("close", done));
      await until(
        async () => (/deciding block [4-9], round 0, proposer node [1-4]/.test(output) ? true : undefined),
        90_000,
        "block 3",
      );
      const nodes = processesIn(folder);
      expect(nodes.length).toBe(5);
      expect(existsSync(join(folder, "node5", "node.log"))).toBe(true);
      child.kill(signal);
      expect(await exit).toBe(0);
      expect(output.trimEnd().split("\n").at(-1)).toBe("stopped");
      await pause(0);
      expect(processesIn(folder)).toEqual([]);
    },
  );

/** Ids of the processes whose arguments contain the folder, except the script itself. */
function processesIn(folder: string): readonly string[] {
  return readdirSync("/proc").filter((id) => {
    if (!/^\d+$/.test(id)) return false;
    try {
      const args = readFileSync(`/proc/${id}/cmdline`, "utf8");
      return args.includes(folder) && !args.includes(SCRIPT);
    } catch {
      return false;
    }
  });
}
