import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import {
  freePort,
  runProgram,
  startNodeProcess,
  temporaryFolder,
  until,
} from "../cluster/harness/nodeProcess.ts";
import { itIfThorough } from "../thorough.ts";

const ROOT = resolve(import.meta.dirname, "..", "..");

describe("the running program", () => {
  it("writes its process id to a file, logs each warning of its configuration once, and stops cleanly when Ctrl-C arrives twice, as under npm", async () => {
    const folder = temporaryFolder();
    const pidFile = join(folder, "node.pid");
    const node = await startNodeProcess({
      dataPath: folder,
      options: [`--pid-path=${pidFile}`, "--kzg-trusted-setup=none.txt"],
    });
    const written = await until(
      async () => (existsSync(pidFile) ? readFileSync(pidFile, "utf8") : undefined),
      "a pid file",
    );
    expect(written).toBe(`${node.child.pid}`);
    node.child.kill("SIGINT");
    node.child.kill("SIGINT");
    expect(await node.exit).toBe(0);
    expect(existsSync(pidFile)).toBe(false);
    const warning =
      "--kzg-trusted-setup has no effect in this node: the trusted setup of Ethereum's main network is built in.";
    expect(node.output().split(warning)).toHaveLength(2);
  });

  itIfThorough("refuses to start with an unwritable pid file, and says why", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "absent", "node.pid");
    const ports = [`--rpc-http-port=${await freePort()}`, `--rpc-ws-port=${await freePort()}`];
    const program = runProgram([`--data-path=${folder}`, ...ports, `--pid-path=${path}`]);
    expect(await program.exit).toBe(2);
    expect(program.output()).toContain(`The file ${path} named by --pid-path cannot be written: `);
  });

  it("makes blocks with config/dev.toml, whose genesis names the validator with the well-known key", async () => {
    const folder = temporaryFolder();
    const http = await freePort();
    const program = runProgram(
      [
        "--config-file=config/dev.toml",
        `--data-path=${folder}`,
        `--rpc-http-port=${http}`,
        `--rpc-ws-port=${await freePort()}`,
      ],
      ROOT,
    );
    await until(async () => (/"number":2\b/.test(program.output()) ? true : undefined), "a second block");
    program.child.kill("SIGTERM");
    expect(await program.exit).toBe(0);
    expect(program.output()).not.toContain('"level":"WARN"');
    expect(program.output()).not.toContain("private keys");
  });
});
