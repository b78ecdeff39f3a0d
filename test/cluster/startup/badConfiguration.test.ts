import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { ibexHere } from "../../cli/program.ts";
import { HANG_MS } from "../../hang.ts";
import { IS_THOROUGH, someOf } from "../../thorough.ts";
import { PROGRAM, runProgram, temporaryFolder, until } from "../harness/nodeProcess.ts";

const FOLDER = temporaryFolder();
const PORTS = { http: "--rpc-http-port=0", ws: "--rpc-ws-port=0" };

/** Runs the program in FOLDER, with a data folder and free ports, until it ends. */
function ibex(...args: readonly string[]) {
  return ibexIn("--data-path=data", PORTS.http, PORTS.ws, ...args);
}

/** The daily run reads the many bad inputs in this process, and only some of them in one of their own. */
async function ibexIn(...args: readonly string[]) {
  if (IS_THOROUGH) return runIn({}, ...args);
  const { exitCode, output, errors } = await ibexHere(args, { workingDirectory: FOLDER });
  return { status: exitCode, stdout: output, stderr: errors };
}

function runIn(environment: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: FOLDER,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ...environment },
    timeout: HANG_MS,
    killSignal: "SIGKILL",
  });
  return { status, stdout, stderr };
}

const HINT = "\n\nTo display full help:\nibex [COMMAND] --help\n";

function refused(problem: string) {
  return { status: 2, stdout: "", stderr: problem + HINT };
}

interface GenesisChanges {
  readonly config?: object;
  readonly ibft2?: object;
  readonly alloc?: object;
  readonly [key: string]: unknown;
}

/** The development network's genesis file, changed. */
function aGenesis({ config, ibft2, alloc, ...rest }: GenesisChanges): string {
  const dev = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as {
    config: { ibft2: object };
    alloc: object;
  };
  return JSON.stringify({
    ...dev,
    config: { ...dev.config, ibft2: { ...dev.config.ibft2, ...ibft2 }, ...config },
    alloc: { ...dev.alloc, ...alloc },
    ...rest,
  });
}

describe("an invalid genesis file", () => {
  const INVALID = "Invalid genesis block configuration,";

  it.each<[name: string, text: string, problem: string]>(
    someOf<[name: string, text: string, problem: string]>([
      ["nothing", "", "a value is expected, not the end of the file at line 1, column 1 of FILE"],
      ["plain text", "hello", "a value is expected, not 'h' at line 1, column 1 of FILE"],
      ["a list", "[]", "the document must be an object but was a list (line 1, column 1 of FILE)"],
      [
        "an empty object",
        "{}",
        "config has no supported consensus: an ibft2 section is expected (line 1, column 1 of FILE)",
      ],
      [
        "an incomplete object",
        '{"config": {}',
        "',' or '}' is expected, not the end of the file at line 1, column 14 of FILE",
      ],
      [
        "lists without end",
        "[".repeat(100_000),
        "more than 64 levels of nesting at line 1, column 65 of FILE",
      ],
      [
        "a negative chain id",
        aGenesis({ config: { chainId: -1 } }),
        `${INVALID} config.chainId must be a number of at least 0 but was '-1' (PLACE)`,
      ],
      [
        "text for a fork",
        aGenesis({ config: { londonBlock: "soon" } }),
        `${INVALID} config.londonBlock must be a number but was 'soon' (PLACE)`,
      ],
      [
        "forks out of order",
        aGenesis({ config: { berlinBlock: 10, londonBlock: 5 } }),
        "config.londonBlock (5) comes before config.berlinBlock (10), though it is the later fork (PLACE)",
      ],
      [
        "a block period of zero",
        aGenesis({ ibft2: { blockperiodseconds: 0 } }),
        `${INVALID} config.ibft2.blockPeriodSeconds must be a number of at least 1 but was '0' (PLACE)`,
      ],
      [
        "an epoch length of zero",
        aGenesis({ ibft2: { epochlength: 0 } }),
        "Epoch length in config must be greater than zero (PLACE)",
      ],
      [
        "a huge gas limit",
        aGenesis({ gasLimit: "0xffffffffffffffffffff" }),
        `${INVALID} gasLimit must be a number of at most 9223372036854775807 but was '0xffffffffffffffffffff' (PLACE)`,
      ],
      [
        "extra data that is not RLP",
        aGenesis({ extraData: "0x1234" }),
        "Invalid extraData in genesis block configuration: extra data is a list of five items (PLACE)",
      ],
      [
        "extra data that is not hex",
        aGenesis({ extraData: "zz" }),
        "Invalid extraData in genesis block configuration: 'zz' is not hexadecimal bytes (PLACE)",
      ],
      [
        "text for a timestamp",
        aGenesis({ timestamp: "yesterday" }),
        `${INVALID} timestamp must be a number but was 'yesterday' (PLACE)`,
      ],
      [
        "an account that is not an address",
        aGenesis({ alloc: { nobody: { balance: "1" } } }),
        "Invalid alloc.nobody in genesis block configuration: 'nobody' is not 20 bytes of hexadecimal digits (PLACE)",
      ],
      [
        "a negative balance",
        aGenesis({ alloc: { "0x11": { balance: "-1" } } }),
        `${INVALID} alloc.0x11.balance must be a number of at least 0 but was '-1' (PLACE)`,
      ],
      [
        "code that is not hex",
        aGenesis({ alloc: { "0x11": { balance: "1", code: "0xz" } } }),
        "Invalid alloc.0x11.code in genesis block configuration: '0xz' is not hexadecimal bytes (PLACE)",
      ],
      [
        "a list for a storage",
        aGenesis({ alloc: { "0x11": { balance: "1", storage: [] } } }),
        "alloc.0x11.storage must be an object but was a list (PLACE)",
      ],
    ]),
  )("%s", async (_, text, problem) => {
    writeFileSync(join(FOLDER, "net.json"), text);
    const { stderr, ...rest } = await ibex("--genesis-file=net.json");
    const message = stderr.replace(join(FOLDER, "net.json"), "FILE");
    const shown = problem.endsWith("(PLACE)")
      ? message.replace(/\(line 1, column \d+ of FILE\)/, "(PLACE)")
      : message;
    expect({ ...rest, stderr: shown }).toEqual(refused(`Unable to load genesis file. ${problem}`));
  });
});

const PORT_ACCEPTED = "accepted: a whole number from 0 to 65535";

describe("an invalid configuration file", () => {
  it.each<[text: string, problem: string]>(
    someOf<[text: string, problem: string]>([
      ["", "Unable to read TOML configuration file FILE: nothing is set in it"],
      [
        "hello",
        "Invalid TOML configuration: incomplete key-value: cannot find end of key (line 1, column 1) in FILE",
      ],
      ["\u0000\u0001", "Invalid TOML configuration: illegal character in key (line 1, column 1) in FILE"],
      ['identity="x', "Invalid TOML configuration: unfinished string (line 1, column 10) in FILE"],
      [
        "max-peers=1\nmax-peers=2",
        "Invalid TOML configuration: trying to redefine an already defined table or value (line 2, column 1) in FILE",
      ],
      [
        "rpc-ws-prot=1",
        "Unknown option in TOML configuration file: rpc-ws-prot (FILE; rpc-ws-prot in line 1: is rpc-ws-port meant?)",
      ],
      ["[rpc]\nport=1", "Unknown option in TOML configuration file: port (FILE; port in line 2)"],
      [
        "rpc-ws-port=[1,2]",
        `Invalid value for option '--rpc-ws-port': '1,2' is not an int (given as rpc-ws-port in FILE, line 1; ${PORT_ACCEPTED})`,
      ],
      [
        "rpc-ws-port=-1",
        `Invalid value for option '--rpc-ws-port': '-1' is below 0 (given as rpc-ws-port in FILE, line 1; ${PORT_ACCEPTED})`,
      ],
      [
        "rpc-ws-port=99999999999999999999",
        `Invalid value for option '--rpc-ws-port': '99999999999999999999' is above 65535 (given as rpc-ws-port in FILE, line 1; ${PORT_ACCEPTED})`,
      ],
      [
        "rpc-ws-port=1.5",
        `Invalid value for option '--rpc-ws-port': '1.5' is not an int (given as rpc-ws-port in FILE, line 1; ${PORT_ACCEPTED})`,
      ],
      [
        'rpc-ws-enabled="maybe"',
        "Invalid value for option '--rpc-ws-enabled': 'maybe' is not a boolean (given as rpc-ws-enabled in FILE, line 1; accepted: true or false)",
      ],
      [
        "identity=1979-05-27",
        "Invalid value for option '--identity': a date is given as identity in FILE, line 1; accepted: a name",
      ],
    ]),
  )("%j", async (text, problem) => {
    writeFileSync(join(FOLDER, "node.toml"), text);
    expect(
      await ibexIn("--config-file=node.toml", "--data-path=data", "--genesis-file", DEV_GENESIS_FILE),
    ).toEqual(refused(problem.replace("FILE", "node.toml")));
  });
});

describe("an invalid option", () => {
  const INT = "accepted: a whole number from";

  it.each<[option: string, problem: string]>(
    someOf<[option: string, problem: string]>([
      ["--nonsense", "Unknown option: '--nonsense'"],
      ["nonsense", "Unmatched argument at index 3: 'nonsense'"],
      [
        "--p2p-port=-1",
        "Invalid value for option '--p2p-port': '-1' is below 0 (given on the command line; accepted: a whole number from 0 to 65535)",
      ],
      [
        "--network-id=-1",
        `Invalid value for option '--network-id': '-1' is below 0 (given on the command line; ${INT} 0 to ${2n ** 256n - 1n})`,
      ],
      [
        "--target-gas-limit=99999999999999999999",
        `Invalid value for option '--target-gas-limit': '99999999999999999999' is above ${2n ** 63n - 1n} (given on the command line; ${INT} 5000 to ${2n ** 63n - 1n} (gas))`,
      ],
      [
        "--min-gas-price=0x1",
        `Invalid value for option '--min-gas-price': cannot convert '0x1' to Wei (it is not a whole number) (given on the command line; ${INT} 0 to ${2n ** 256n - 1n} (wei))`,
      ],
      [
        "--rpc-http-max-active-connections=0",
        `Invalid value for option '--rpc-http-max-active-connections': '0' is below 1 (given on the command line; ${INT} 1 to 2147483647 (connections))`,
      ],
      [
        "--rpc-http-cors-origins=[",
        "Invalid value for option '--rpc-http-cors-origins': '[' is not a regular expression (given on the command line; accepted: a list of domains separated by commas, or * or all for every one, or none)",
      ],
      [
        "--host-allowlist=*,x",
        "Invalid value for option '--host-allowlist': Values '*' or 'all' can't be used with other hostnames (given on the command line; accepted: a list of hostnames separated by commas, or * or all for every one, or none)",
      ],
      [
        "--logging=LOUD",
        "Invalid value for option '--logging': Unknown logging value: LOUD (given on the command line; accepted: one of OFF, ERROR, WARN, INFO, DEBUG, TRACE, ALL)",
      ],
      [
        "--miner-coinbase=0x12",
        "Invalid value for option '--miner-coinbase': '0x12' is not an address (given on the command line; accepted: an address of 40 hexadecimal digits)",
      ],
      [
        "--genesis-file=absent.json",
        `Unable to load genesis file. ${join(FOLDER, "absent.json")} does not exist (--genesis-file is given on the command line)`,
      ],
      ["--config-file=absent.toml", "Unable to read TOML configuration, file not found: absent.toml"],
    ]),
  )("%s", async (option, problem) => {
    expect(await ibex(option)).toEqual(refused(problem));
  });

  it("ends the program, as does a bad configuration file, and a bad genesis file", () => {
    writeFileSync(join(FOLDER, "net.json"), "[]");
    writeFileSync(join(FOLDER, "node.toml"), "hello");
    for (const [problem, ...args] of [
      ["Unknown option: '--nonsense'", "--nonsense"],
      ["Invalid TOML configuration: incomplete key-value", "--config-file=node.toml"],
      ["Unable to load genesis file. the document must be an object", "--genesis-file=net.json"],
    ] as const) {
      const { status, stdout, stderr } = runIn({}, "--data-path=data", ...args);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr.startsWith(problem)).toBe(true);
      expect(stderr.endsWith(HINT)).toBe(true);
    }
  });

  it("in the environment is reported with its variable", () => {
    expect(runIn({ IBEX_RPC_HTTP_PORT: "abc" }, "--data-path=data")).toEqual(
      refused(
        "Invalid value for option '--rpc-http-port': 'abc' is not an int (given by the environment variable IBEX_RPC_HTTP_PORT; accepted: a whole number from 0 to 65535)",
      ),
    );
  });
});

describe("a resource that the system refuses", () => {
  it.each<[name: string, args: readonly string[], problem: RegExp]>([
    [
      "a file for a data folder",
      ["--data-path=node.key", PORTS.http, PORTS.ws],
      /^The data folder \S+node\.key cannot be used: ENOTDIR: .+ Give a folder that this user may write with --data-path\.\n$/,
    ],
    [
      "a folder that cannot be created",
      ["--data-path=/proc/nothing", PORTS.http, PORTS.ws],
      /^The data folder \/proc\/nothing cannot be used: ENOENT: .+\n$/,
    ],
    [
      "a key file without a key",
      ["--data-path=data", "--node-private-key-file=node.key", PORTS.http, PORTS.ws],
      /^The node key file \S+node\.key cannot be used: it does not hold a valid private key: one line of 64 hexadecimal digits is expected\.\n$/,
    ],
    [
      "a folder for a key file",
      ["--data-path=data", "--node-private-key-file=folder", PORTS.http, PORTS.ws],
      /^The node key file \S+folder cannot be used: it is a folder\.\n$/,
    ],
    [
      "an address of another host",
      ["--data-path=data", "--rpc-http-host=192.0.2.1", PORTS.http, PORTS.ws],
      /^cannot listen on 192\.0\.2\.1:0: .+ Choose another address with --rpc-http-host and --rpc-http-port\.\n$/,
    ],
  ])("%s", (_, args, problem) => {
    writeFileSync(join(FOLDER, "node.key"), "no key at all");
    mkdirSync(join(FOLDER, "folder"), { recursive: true });
    const { status, stderr } = runIn({}, ...args);
    expect(stderr).toMatch(problem);
    expect(status).toBe(2);
  });
});

describe("a node without work", () => {
  it("still waits for a signal: no servers, and a genesis block without validators", async () => {
    const noValidators = `0xe9a0${"00".repeat(32)}c0808400000000c0`;
    writeFileSync(join(FOLDER, "no-validators.json"), aGenesis({ extraData: noValidators }));
    const node = runProgram(
      ["--genesis-file=no-validators.json", "--data-path=no-validators", "--p2p-port=0"],
      FOLDER,
    );
    await until(
      async () => (node.output().includes("Ethereum main loop is up.") ? true : undefined),
      "the start",
    );
    node.child.kill("SIGTERM");
    expect(await node.exit).toBe(0);
    expect(node.output()).toContain("Genesis block contains no signers - chain will not progress.");
  });
});
