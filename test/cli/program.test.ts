import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { EXIT } from "../../src/cli/exitCodes.ts";
import { helpText } from "../../src/cli/help.ts";
import { clientVersion } from "../../src/config/clientVersion.ts";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { nodeVersionFault } from "../../src/nodeVersion.mjs";
import { HANG_MS } from "../hang.ts";
import { someOf } from "../thorough.ts";

/** The built program, as an operator runs it; `npm test` builds it first. */
const PROGRAM = resolve(import.meta.dirname, "..", "..", "dist", "main.js");
const EXAMPLES = resolve(import.meta.dirname, "..", "..", "config");
const folder = mkdtempSync(join(tmpdir(), "ibex-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function ibex(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
    timeout: HANG_MS,
  });
  return { status, stdout, stderr };
}

const HINT = "\n\nTo display full help:\nibex [COMMAND] --help\n";

function writeToml(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

describe("the program", () => {
  it("shows its help and its version, and exits with 0", () => {
    expect(ibex("--help")).toEqual({ status: 0, stdout: helpText(), stderr: "" });
    expect(ibex("--version")).toEqual({ status: 0, stdout: `${clientVersion()}\n`, stderr: "" });
    expect(clientVersion()).toMatch(/^ibex\/v\d+\.\d+\.\d+\/[a-z0-9]+-[a-z0-9_]+\/node-v\d+\.\d+\.\d+$/);
    expect(clientVersion("me")).toMatch(/^ibex\/me\/v/);
  });

  it("refuses a Node.js that is too old by a sentence, before it loads what that one cannot", () => {
    const older = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"18.20.8"})`;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--import", older, PROGRAM, "--version"],
      {
        encoding: "utf8",
      },
    );
    expect({ status, stdout, stderr }).toEqual({
      status: EXIT.badInput,
      stdout: "",
      stderr: `${nodeVersionFault("18.20.8")}\n`,
    });
    // Loaded with the file: Node.js 18 ends with a SyntaxError for a missing name of any of them.
    expect(readFileSync(PROGRAM, "utf8")).not.toMatch(/^import\b|\bfrom "|\?\?|\?\.|^await\b/m);
  });

  it.each<[string[], string]>([
    [["--rpc-http-prot=1"], "Unknown option: '--rpc-http-prot'\nPossible solutions: --rpc-http-port"],
    [
      ["--rpc-http-port=abc"],
      "Invalid value for option '--rpc-http-port': 'abc' is not an int (given on the command line; accepted: a whole number from 0 to 65535)",
    ],
    [["--config-file=absent.toml"], "Unable to read TOML configuration, file not found: absent.toml"],
    [
      ["--config-file", writeToml("star.toml", "host-allowlist=[*]\n")],
      'Invalid TOML configuration: invalid value (line 1, column 17) in star.toml. Texts need quotes: host-allowlist=["*"]',
    ],
    [
      ["--genesis-file", writeToml("bad.json", '{"config": {"ibft2": {}},\n "gasLimit": }')],
      `Unable to load genesis file. a value is expected, not '}' at line 2, column 14 of ${join(folder, "bad.json")}`,
    ],
  ])("refuses %j on standard error and exits with 2", (args, message) => {
    expect(ibex(...args)).toEqual({ status: 2, stdout: "", stderr: message + HINT });
  });
});

describe("validate-config", () => {
  it("begins with the text that scripts look for, and exits with 0", () => {
    const file = writeToml("good.toml", `genesis-file="${DEV_GENESIS_FILE}"\nkzg-trusted-setup="none.txt"\n`);
    expect(ibex("validate-config", `--config-file=${file}`)).toEqual({
      status: 0,
      stdout:
        "TOML config file is valid on basic inspection. The rules between its options and its genesis file are checked too.\n" +
        "Warning: --kzg-trusted-setup has no effect in this node: the trusted setup of Ethereum's main network is built in.\n",
      stderr: "",
    });
  });

  it("prints each problem on a line, and exits with 2", () => {
    const file = writeToml("wrong.toml", `genesis-file="absent.json"\nrpc-http-port="x"\nrpc-http-hosts=1\n`);
    expect(ibex("validate-config", `--config-file=${file}`)).toEqual({
      status: 2,
      stdout: [
        "Unknown option in TOML configuration file: rpc-http-hosts (wrong.toml; rpc-http-hosts in line 3: is rpc-http-host meant?)",
        "Invalid value for option '--rpc-http-port': 'x' is not an int (given as rpc-http-port in wrong.toml, line 2; accepted: a whole number from 0 to 65535)",
        `Unable to load genesis file. ${join(folder, "absent.json")} does not exist (--genesis-file is given as genesis-file in wrong.toml, line 1)\n`,
      ].join("\n"),
      stderr: "",
    });
    expect(ibex("validate-config")).toMatchObject({
      status: 2,
      stdout: "Missing required option '--config-file=<PATH>'\n",
    });
  });

  it("names the line of each option in conflict, and checks the key file", () => {
    const file = writeToml(
      "clash.toml",
      `genesis-file="${DEV_GENESIS_FILE}"\n\nrpc-http-enabled=true\nrpc-ws-enabled=true\nrpc-ws-port=8545\n`,
    );
    expect(ibex("validate-config", `--config-file=${file}`)).toMatchObject({
      status: 2,
      stdout:
        "Port number '8545' has been specified multiple times. Please review the supplied configuration. (--rpc-ws-port is given as rpc-ws-port in clash.toml, line 5)\n",
    });
    writeToml("bad.key", "no key at all");
    const withKey = writeToml(
      "key.toml",
      `genesis-file="${DEV_GENESIS_FILE}"\nnode-private-key-file="bad.key"\n`,
    );
    expect(ibex("validate-config", `--config-file=${withKey}`)).toMatchObject({
      status: 2,
      stdout: expect.stringMatching(/^The node key file \S+bad\.key cannot be used: /),
    });
  });

  it("prints JSON with --json", () => {
    const good = writeToml("good.toml", `genesis-file="${DEV_GENESIS_FILE}"\nkzg-trusted-setup="none.txt"\n`);
    const valid = ibex("validate-config", `--config-file=${good}`, "--json");
    expect({ ...valid, stdout: JSON.parse(valid.stdout) as unknown }).toEqual({
      status: 0,
      stdout: {
        valid: true,
        problems: [],
        warnings: [expect.stringContaining("--kzg-trusted-setup")],
      },
      stderr: "",
    });
    const bad = writeToml("port.toml", `genesis-file="${DEV_GENESIS_FILE}"\nrpc-http-port="x"\n`);
    const invalid = ibex("validate-config", "--json", `--config-file=${bad}`);
    expect({ ...invalid, stdout: JSON.parse(invalid.stdout) as unknown }).toMatchObject({
      status: 2,
      stdout: { valid: false, problems: [expect.stringContaining("port.toml, line 2")], warnings: [] },
    });
  });

  it.each(someOf(readdirSync(EXAMPLES).filter((name) => name.endsWith(".toml"))))(
    "finds nothing wrong with the example config/%s",
    (file) => {
      const result = spawnSync(
        process.execPath,
        [PROGRAM, "validate-config", `--config-file=config/${file}`],
        {
          cwd: resolve(EXAMPLES, ".."),
          encoding: "utf8",
        },
      );
      expect(result.stdout).toMatch(/^TOML config file is valid on basic inspection\./);
      expect(result.stdout).not.toContain("Warning");
      expect(result.status).toBe(0);
    },
  );
});
