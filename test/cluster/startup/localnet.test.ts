import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { IS_THOROUGH } from "../../thorough.ts";
import { pause, temporaryFolder, until } from "../harness/nodeProcess.ts";

const SCRIPT = resolve(import.meta.dirname, "..", "..", "..", "scripts", "localnet.mjs");
/** Each network takes the next ten or so. */
const FIRST_PORT = 20_000 + (process.pid % 10_000);

/** They wait for blocks and for one another's nodes most of their time. */
const sideBySide = IS_THOROUGH ? it.concurrent : it.skip;

const SIGNALS = [
  { signal: "SIGINT", sizes: [], count: 5 },
  { signal: "SIGHUP", sizes: ["--validators=1"], count: 2 },
] as const;

for (const [index, { signal, sizes, count }] of SIGNALS.entries())
  sideBySide(
    `npm run localnet creates a network, prints its status, and leaves no process behind after ${signal}`,
    async () => {
      const folder = join(temporaryFolder(), "network");
      const firstPort = FIRST_PORT + 20 * index;
      const options = [SCRIPT, `--folder=${folder}`, `--first-port=${firstPort}`, ...sizes];
      const child = spawn(process.execPath, options, { stdio: ["ignore", "pipe", "inherit"] });
      let output = "";
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString("utf8");
      });
      const exit = new Promise((done) => child.once("close", done));
      await until(
        async () =>
          /deciding block ([4-9]|\d\d+), round 0, proposer node [1-4]/.test(output) ? true : undefined,
        "block 3",
      );
      expect(processesIn(folder).length).toBe(count);
      expect(existsSync(join(folder, `node${count}`, "node.log"))).toBe(true);
      child.kill(signal);
      expect(await exit).toBe(0);
      expect(output.trimEnd().split("\n").at(-1)).toBe("stopped");
      await pause(0);
      expect(processesIn(folder)).toEqual([]);
    },
  );

sideBySide(
  "npm run localnet stops and starts single nodes, says why one ended, and goes on on a small terminal",
  async () => {
    const folder = join(temporaryFolder(), "network");
    const firstPort = FIRST_PORT + 40;
    const command = `'${process.execPath}' '${SCRIPT}' '--folder=${folder}' '--first-port=${firstPort}'`;
    // A terminal of its own, of util-linux.
    const child = spawn("/usr/bin/script", ["-qec", `stty cols 40 rows 10; exec ${command}`, "/dev/null"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
    const exit = new Promise((done) => child.once("close", done));
    const screen = () => output.slice(output.lastIndexOf("\u001b[2J")).split(/\r?\n/);
    const shows = (pattern: RegExp) =>
      until(async () => (screen().some((line) => pattern.test(line)) ? true : undefined), `${pattern}`);
    await shows(/deciding block ([2-9]|\d\d)/);
    expect(screen().length).toBeLessThanOrEqual(10);
    expect(output).toContain(`http://127.0.0.1:${firstPort + 4}`);

    child.stdin.write("stop 2\r");
    await shows(/^2 .* stopped/);
    child.stdin.write("start 2\r");
    await shows(/^2 .* runs/);

    child.stdin.write("keys\r");
    await shows(/^Enter goes on/);
    expect(screen().join("\n")).toContain(
      "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    );
    child.stdin.write("\r");

    // A port that is taken ends the next start.
    child.stdin.write("5\r");
    await shows(/^5 .* stopped/);
    const taken = createServer((socket) => socket.destroy());
    await new Promise<void>((done) => taken.listen(firstPort + 4, "127.0.0.1", done));
    child.stdin.write("5\r");
    await shows(/^node 5 ended with exit code 2/);
    await new Promise((done) => taken.close(done));

    const [third = ""] = processesIn(join(folder, "node3"));
    process.kill(Number(third), "SIGKILL");
    await shows(/^node 3 ended by SIGKILL/);
    child.stdin.write("\u0003");
    expect(await exit).toBe(0);
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
