import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { DEVELOPMENT_API_GROUPS, SUPPORTED_API_GROUPS } from "../../src/config/apiGroups.ts";
import { clientVersion } from "../../src/config/clientVersion.ts";
import { DEV_CANCUN_GENESIS_FILE, DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import type { Environment } from "../../src/config/environment.ts";
import { findOption } from "../../src/config/options.ts";
import { readSettings } from "../../src/config/readSettings.ts";
import type { Settings } from "../../src/config/settings.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../src/txpool/limits.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";

const folder = mkdtempSync(join(tmpdir(), "ibex-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Given {
  /** Of the form name=value. */
  readonly options?: readonly string[];
  readonly environment?: Environment;
  readonly toml?: string;
  readonly isTerminal?: boolean;
}

function read({ options = [], environment = {}, toml, isTerminal = false }: Given = {}) {
  const all = [...options];
  if (toml !== undefined) {
    writeFileSync(join(folder, "node.toml"), toml);
    all.push("config-file=node.toml");
  }
  const raw = all.map((option) => {
    const [spelling = "", ...rest] = option.split("=");
    const name = findOption(spelling);
    if (name === undefined) throw new Error(`no option ${spelling}`);
    return { name, text: rest.join("="), source: { kind: "commandLine" } as const };
  });
  return readSettings({ raw, environment, workingDirectory: folder, isTerminal });
}

function settings(sources?: Given): Settings {
  const outcome = read(sources);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

function refusal(sources: Given): readonly string[] {
  const outcome = read(sources);
  return outcome.ok ? [] : outcome.error.message.split("\n");
}

const DEV_GENESIS = `genesis-file=${DEV_GENESIS_FILE}`;
const TOML_GENESIS = `genesis-file="${DEV_GENESIS_FILE}"\n`;

/** Writes a genesis file with changes to config. */
function writeGenesis(name: string, config: Record<string, unknown>): string {
  const genesis = JSON.parse(readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8")) as { config: object };
  writeFileSync(join(folder, name), JSON.stringify({ ...genesis, config: { ...genesis.config, ...config } }));
  return `genesis-file=${name}`;
}

describe("without any options", () => {
  it("the development network runs: all groups on both servers, free gas, the well-known validator key", () => {
    expect(settings()).toMatchObject({
      isDevelopmentNetwork: true,
      showsDevelopmentKeys: false,
      genesisFile: DEV_GENESIS_FILE,
      dataPath: join(folder, "ibex-data"),
      nodeKey: { path: join(folder, "ibex-data", "key"), initialKey: DEV_VALIDATOR_KEY },
      networkId: 1337n,
      clientVersion: clientVersion(),
      logging: { level: "INFO", moduleLevels: {}, format: "json", isColored: false },
      http: {
        host: "127.0.0.1",
        port: 8545,
        groups: [...SUPPORTED_API_GROUPS, ...DEVELOPMENT_API_GROUPS],
        hostAllowlist: ["localhost", "127.0.0.1"],
        corsOrigins: ["*"],
        maxConnections: 80,
        maxBatchSize: 1024,
        maxBodyBytes: 5_242_880,
        timeoutMs: 300_000,
        isPrettyPrinted: false,
      },
      webSocket: {
        host: "127.0.0.1",
        port: 8546,
        groups: [...SUPPORTED_API_GROUPS, ...DEVELOPMENT_API_GROUPS],
        maxFrameBytes: 1_048_576,
      },
      development: { isInstant: false, isRemoteAllowed: false },
      rpc: {
        gasCap: 0n,
        maxLogsRange: 0n,
        maxTraceFilterRange: 0n,
        gasPrice: { blocks: 100, percentile: 50, maxWei: 500_000_000_000n },
        coinbase: undefined,
      },
      blockProduction: {
        minGasPriceWei: 0n,
        minPriorityFeeWei: 0n,
        minOccupancyRatio: 0.8,
        maxBlockBytes: 2_097_152,
        targetGasLimit: undefined,
        selectionTimePercent: 75,
        vanity: new Uint8Array(32),
      },
      minFreeDiskBytes: 512 * 1024 ** 2,
      stateHistory: undefined,
      blockHistory: undefined,
      databaseScrubMs: 86_400_000,
      keepsRevertReasons: false,
      warnings: [],
    });
    expect(settings().pool).toEqual({
      ...DEFAULT_TX_POOL_LIMITS,
      admissionFloorWei: 0n,
      blockFloors: { minGasPriceWei: 0n, minPriorityFeeWei: 0n },
    });
  });

  it("the index by address goes with the explorer, unless it is asked for or refused by itself", () => {
    const index = (...options: readonly string[]) => settings({ options }).accountIndex;
    const byDefault = { maxBytes: 10_240 * 1024 ** 2 };
    expect(index()).toEqual(byDefault);
    expect(index("explorer-enabled=false")).toBeUndefined();
    expect(index("explorer-index-enabled=false")).toBeUndefined();
    expect(index("explorer-enabled=false", "explorer-index-enabled=true")).toEqual(byDefault);
    expect(index("explorer-index-max-mb=0")).toEqual({ maxBytes: 0 });
  });

  it("every block is kept, unless a number of them is named", () => {
    expect(settings({ options: ["block-history=all"] }).blockHistory).toBe(undefined);
    const both = settings({ options: ["block-history=5000", "state-history=5000"] });
    expect([both.blockHistory, both.stateHistory]).toEqual([5000n, 5000n]);
    const fewer = settings({ toml: `${TOML_GENESIS}block-history=1024\nstate-history=128` });
    expect([fewer.blockHistory, fewer.stateHistory]).toEqual([1024n, 128n]);
    expect(settings({ options: ["state-history=128"] }).blockHistory).toBe(undefined);
    expect(settings({ environment: { IBEX_BLOCK_HISTORY: "All" } }).blockHistory).toBe(undefined);
  });

  it("a batch has no limit of requests where the limit is not positive", () => {
    const limitOf = (size: number) =>
      settings({ options: ["rpc-http-enabled=true", `rpc-http-max-batch-size=${size}`] }).http?.maxBatchSize;
    expect([limitOf(-1), limitOf(0), limitOf(5)]).toEqual([undefined, undefined, 5]);
  });

  it("every block is kept with BONSAI", () => {
    expect(settings({ options: ["data-storage-format=BONSAI"] }).blockHistory).toBe(undefined);
  });

  it("the log has lines for a terminal on one, in color unless NO_COLOR is set", () => {
    expect(settings({ isTerminal: true, environment: { TERM: "xterm" } }).logging).toEqual({
      level: "INFO",
      moduleLevels: {},
      format: "terminal",
      hasBar: true,
      isColored: true,
    });
    expect(settings({ isTerminal: true, options: ["logging-format=text"] }).logging.format).toBe("text");
    expect(settings({ isTerminal: true, environment: { NO_COLOR: "1" } }).logging.isColored).toBe(false);
    expect(settings({ isTerminal: true, options: ["logging-format=json"] }).logging.format).toBe("json");
    expect(settings({ options: ["logging-format=text", "color-enabled=true"] }).logging).toMatchObject({
      format: "text",
      isColored: true,
    });
  });

  it("Besu's variable LOGGER sets the log format, unless --logging-format does", () => {
    const format = (LOGGER: string, options: readonly string[] = []) =>
      settings({ environment: { LOGGER }, options }).logging.format;
    expect(format("Json")).toBe("json");
    expect(format("Console")).toBe("text");
    expect(format("Console", ["logging-format=json"])).toBe("json");
  });

  it("--logging-modules sets the levels of single modules", () => {
    expect(settings({ options: ["logging-modules=consensus=DEBUG,rpc=warn"] }).logging.moduleLevels).toEqual({
      consensus: "DEBUG",
      rpc: "WARN",
    });
  });

  it("unsupported logging settings of Besu give warnings", () => {
    const warningsOf = (environment: Record<string, string>, options: readonly string[] = []) =>
      settings({ environment, options }).warnings;
    expect(warningsOf({ LOG4J_CONFIGURATION_FILE: "/etc/besu/log.xml" })).toEqual([
      expect.stringMatching(/^LOG4J_CONFIGURATION_FILE is not used/),
    ]);
    expect(warningsOf({ LOGGER: "Splunk" })).toEqual([
      expect.stringMatching(/^LOGGER=Splunk is not supported/),
    ]);
    expect(warningsOf({}, ["logging=FATAL"])).toEqual([expect.stringContaining("ERROR is used")]);
  });
});

describe("the development network", () => {
  it("applies its preset to all options that the operator does not set", () => {
    const changed = settings({ options: ["rpc-http-port=9545", "data-path=/tmp/x", "min-gas-price=5"] });
    expect(changed).toMatchObject({
      isDevelopmentNetwork: true,
      dataPath: "/tmp/x",
      http: { port: 9545, corsOrigins: ["*"] },
      blockProduction: { minGasPriceWei: 5n },
      pool: { admissionFloorWei: 0n },
    });
  });

  it.each<[string, Given]>([
    ["a genesis file", { options: [DEV_GENESIS] }],
    ["a genesis file in the environment", { environment: { BESU_GENESIS_FILE: DEV_GENESIS_FILE } }],
    ["a configuration file", { toml: `genesis-file="${DEV_GENESIS_FILE}"` }],
  ])("is off as a whole with %s", (_, sources) => {
    expect(settings(sources)).toMatchObject({
      isDevelopmentNetwork: false,
      http: undefined,
      webSocket: undefined,
      blockProduction: { minGasPriceWei: 1000n },
      pool: { admissionFloorWei: 1000n },
      rpc: { maxLogsRange: 1000n, maxTraceFilterRange: 1000n },
    });
  });

  it("writes its validator's key to any data folder, but not when the genesis file is named", () => {
    expect(settings({ options: ["data-path=other"] }).nodeKey).toEqual({
      path: join(folder, "other", "key"),
      initialKey: DEV_VALIDATOR_KEY,
    });
    expect(settings({ options: [DEV_GENESIS] }).nodeKey).toEqual({ path: join(folder, "ibex-data", "key") });
  });
});

describe("precedence", () => {
  const givenSources = ["commandLine", "environment", "toml"] as const;

  it.each(
    Array.from({ length: 8 }, (_, bits) =>
      givenSources.filter((_source, index) => (bits & (1 << index)) !== 0),
    ),
  )("takes the first of command line, environment, file: %j %j %j", (...given) => {
    const port = { commandLine: 1001, environment: 1002, toml: 1003, default: 8545 };
    const winner = given.find((place) => place !== undefined) ?? "default";
    const has = (source: (typeof givenSources)[number]): boolean =>
      (given as readonly unknown[]).includes(source);
    const result = settings({
      options: [
        DEV_GENESIS,
        "rpc-http-enabled=true",
        ...(has("commandLine") ? [`rpc-http-port=${port.commandLine}`] : []),
      ],
      environment: has("environment") ? { BESU_RPC_HTTP_PORT: `${port.environment}` } : {},
      toml: `identity="x"\n${has("toml") ? `rpc-http-port=${port.toml}` : ""}`,
    });
    expect(result.http?.port).toBe(port[winner]);
  });

  it("replaces lists as a whole", () => {
    const result = settings({
      options: ["rpc-http-api=NET"],
      toml: `genesis-file="${DEV_GENESIS_FILE}"\nrpc-http-enabled=true\nrpc-http-api=["ETH","WEB3"]`,
    });
    expect(result.http?.groups).toEqual(["NET"]);
  });
});

describe("every option sets its setting", () => {
  it("from texts", () => {
    const result = settings({
      options: [
        DEV_GENESIS,
        "network-id=77",
        "node-private-key-file=secret",
        "identity=me",
        "pid-path=run/pid",
        "host-allowlist=a.org,b.org",
        "logging=trace",
        "rpc-http-enabled=true",
        "rpc-http-host=0.0.0.0",
        "rpc-http-api=ETH",
        "rpc-http-cors-origins=x.org",
        "rpc-http-max-active-connections=1000",
        "rpc-http-max-batch-size=-1",
        "rpc-http-max-request-content-length=100",
        "json-pretty-print-enabled=true",
        "Xhttp-timeout-seconds=7",
        "rpc-ws-enabled=true",
        "rpc-ws-host=::1",
        "rpc-ws-port=0",
        "rpc-ws-api=NET",
        "rpc-ws-max-frame-size=200",
        "rpc-ws-max-active-connections=3",
        "Xws-timeout-seconds=8",
        "rpc-gas-cap=5",
        "rpc-max-logs-range=0",
        "api-gas-price-blocks=6",
        "api-gas-price-percentile=7.5",
        "api-gas-price-max=8",
        "tx-pool-max-size=9",
        "tx-pool-layer-max-capacity=10",
        "tx-pool-max-prioritized=11",
        "tx-pool-max-future-by-sender=12",
        "tx-pool-no-local-priority=true",
        `tx-pool-priority-senders=0x${"22".repeat(20)}`,
        "tx-pool-min-gas-price=13",
        "rpc-tx-feecap=14",
        "strict-tx-replay-protection-enabled=true",
        "min-gas-price=15",
        "min-priority-fee=16",
        "min-block-occupancy-ratio=0.5",
        "max-block-bytes=18000",
        "target-gas-limit=17000",
        "poa-block-txs-selection-max-time=100",
        "miner-extra-data=0x0102",
        `miner-coinbase=0x${"33".repeat(20)}`,
        "revert-reason-enabled=true",
      ],
    });
    const vanity = new Uint8Array(32);
    vanity.set([1, 2], 30);
    expect(result).toMatchObject({
      networkId: 77n,
      nodeKey: { path: join(folder, "secret") },
      clientVersion: clientVersion("me"),
      pidFile: join(folder, "run", "pid"),
      logging: { level: "TRACE" },
      http: {
        host: "0.0.0.0",
        groups: ["ETH"],
        hostAllowlist: ["a.org", "b.org"],
        corsOrigins: ["x.org"],
        maxConnections: 1000,
        maxBatchSize: undefined,
        maxBodyBytes: 100,
        isPrettyPrinted: true,
        timeoutMs: 7000,
      },
      webSocket: {
        host: "::1",
        port: 0,
        groups: ["NET"],
        maxFrameBytes: 200,
        maxConnections: 3,
        timeoutMs: 8000,
      },
      rpc: {
        gasCap: 5n,
        maxLogsRange: 0n,
        gasPrice: { blocks: 6, percentile: 7.5, maxWei: 8n },
        coinbase: new Uint8Array(20).fill(0x33),
      },
      pool: {
        maxTransactions: 9,
        maxBytes: 10,
        maxPrioritized: 11,
        maxFutureBySender: 12,
        hasLocalPriority: false,
        prioritySenders: [new Uint8Array(20).fill(0x22)],
        admissionFloorWei: 13n,
        feeCapWei: 14n,
        requiresReplayProtection: true,
        blockFloors: { minGasPriceWei: 15n, minPriorityFeeWei: 16n },
      },
      blockProduction: {
        minGasPriceWei: 15n,
        minPriorityFeeWei: 16n,
        minOccupancyRatio: 0.5,
        maxBlockBytes: 18_000,
        targetGasLimit: 17_000n,
        selectionTimePercent: 100,
        vanity,
      },
      keepsRevertReasons: true,
      warnings: ["--tx-pool-max-size belongs to --tx-pool=SEQUENCED; it limits the layered pool, too."],
    });
  });
});

describeWithVectors("the configuration of a real full node", () => {
  it("is valid, with one warning for each unsupported option", () => {
    const enode = `enode://${"a1".repeat(64)}@1.2.3.4:30303`;
    const result = settings({
      toml: `
bootnodes=["${enode}", "${enode}", "${enode}", "${enode}"]
genesis-file="${vectorPath("ibft2", "genesis", "bitrock-mainnet-7171.json")}"
data-path="data"
rpc-http-enabled=true
rpc-ws-enabled=true
host-allowlist=["*"]
sync-mode="FULL"
rpc-http-host="0.0.0.0"
rpc-ws-host="0.0.0.0"
rpc-http-cors-origins="all"
poa-block-txs-selection-max-time=100
rpc-http-max-active-connections=1000
data-storage-format="FOREST"
rpc-http-api=["ETH","NET","WEB3","TXPOOL","TRACE"]
rpc-ws-api="ETH, NET, WEB3, TXPOOL, TRACE"
`,
    });
    expect(result).toMatchObject({
      isDevelopmentNetwork: false,
      networkId: 7171n,
      http: { maxConnections: 1000, hostAllowlist: ["*"], corsOrigins: ["*"] },
      webSocket: { maxConnections: 80, groups: ["ETH", "NET", "WEB3", "TXPOOL", "TRACE"] },
      blockProduction: { minGasPriceWei: 1000n, selectionTimePercent: 100 },
    });
    expect(result.warnings).toEqual([]);
  });
});

describe("warnings", () => {
  it.each<[Given, readonly string[]]>([
    [{ options: ["p2p-enabled=false", "discovery-enabled=false", "miner-enabled=false"] }, []],
    [
      {
        options: [
          "p2p-enabled=true",
          "max-peers=30",
          "random-peer-priority-enabled=true",
          "nat-method=none",
          "tx-pool=SEQUENCED",
        ],
      },
      [],
    ],
    [{ options: ["metrics-enabled=false", "tx-pool-enable-save-restore=false"] }, []],
    [
      {
        options: ["metrics-enabled=true", "metrics-categories=ETHEREUM,JVM", "rpc-max-trace-filter-range=0"],
      },
      [],
    ],
    [
      { options: [DEV_GENESIS, "rpc-http-port=1", "rpc-http-host=x"] },
      [
        "rpc-http-host, rpc-http-port has been ignored because --rpc-http-enabled was not defined on the command line.",
      ],
    ],
    [
      { options: [DEV_GENESIS, "min-gas-price=5"] },
      ["Forcing tx-pool-min-gas-price=5, since it cannot be greater than the value of min-gas-price"],
    ],
    [
      { options: ["sync-mode=fast"] },
      ["--sync-mode=FAST is treated as FULL: this node executes every block."],
    ],
    [
      { options: ["data-storage-format=bonsai"] },
      [
        "--data-storage-format=BONSAI is treated as FOREST: this node keeps every state. BONSAI keeps those of 512 blocks, as --state-history=512 does here.",
      ],
    ],
    [
      { options: ["rpc-threads=0"] },
      [
        "--rpc-threads=0 is treated as 1: callers are answered beside the thread that makes blocks, never on it.",
      ],
    ],
    [
      { options: ["rpc-http-api=ETH,QBFT"] },
      ["--rpc-http-api names QBFT, but it does not belong to an IBFT 2.0 node."],
    ],
    [
      { environment: { IBEX_IDENTIY: "x" } },
      ["IBEX_IDENTIY is not an option and is ignored; is IBEX_IDENTITY meant?"],
    ],
  ])("%j", (sources, warnings) => {
    expect(settings(sources).warnings).toEqual(warnings);
  });

  it("name Prague in every genesis file but the development network's, since Besu 24.7.0 has none", () => {
    const prague = [
      expect.stringMatching(/^config\.pragueTime of the genesis file: Besu 24\.7\.0 has no EIP-7702/),
    ];
    const genesis = writeGenesis("later.json", { pragueTime: 4_000_000_000 });
    expect(settings({ options: [genesis] }).warnings).toEqual(prague);
    const given = { options: [writeGenesis("net.json", {}), "override-genesis-config=pragueTime=7"] };
    expect(settings(given).warnings).toEqual(prague);
    expect(settings({ options: [writeGenesis("net.json", {})] }).warnings).toEqual([]);
    expect(settings({ options: [DEV_GENESIS] }).warnings).toEqual([]);
    expect(settings().warnings).toEqual([]);
  });

  it("come from the genesis file, too", () => {
    const genesis = writeGenesis("short.json", {
      ibft2: { blockperiodseconds: 5, requesttimeoutseconds: 5 },
    });
    expect(settings({ options: [genesis] }).warnings).toEqual([
      "config.ibft2.requesttimeoutseconds (5) leaves no time after the block period (5); use at least twice the period.",
    ]);
  });
});

describe("invalid settings are refused with all problems at once", () => {
  it.each<[Given, readonly string[]]>([
    [
      { options: ["rpc-http-port=abc"] },
      [
        "Invalid value for option '--rpc-http-port': 'abc' is not an int (given on the command line; accepted: a whole number from 0 to 65535)",
      ],
    ],
    [
      { options: ["block-history=1023"] },
      [
        "Invalid value for option '--block-history': '1023' is below 1024: eth_feeHistory may be asked for 1024 blocks (given on the command line; accepted: all, or a number of blocks from 1024 to 2147483647)",
      ],
    ],
    [
      { options: ["block-history=some"] },
      [
        "Invalid value for option '--block-history': 'some' is not a long (given on the command line; accepted: all, or a number of blocks from 1024 to 2147483647)",
      ],
    ],
    [
      { options: ["block-history=5000"] },
      [
        "--block-history=5000 removes blocks whose states are all kept: set --state-history to 5000 or fewer. (--block-history is given on the command line)",
      ],
    ],
    [
      { options: ["block-history=5000", "state-history=5001"] },
      [
        "--block-history=5000 removes blocks whose states --state-history=5001 keeps: set --state-history to 5000 or fewer. (--block-history is given on the command line; --state-history is given on the command line)",
      ],
    ],
    [
      { environment: { BESU_RPC_HTTP_APIS: "ETH,BOB" } },
      [
        "Invalid value for option '--rpc-http-apis': invalid entries found [BOB] (given by the environment variable BESU_RPC_HTTP_APIS; accepted: a list separated by commas of ETH, NET, WEB3, TXPOOL, DEBUG, TRACE, ADMIN, MINER, IBFT, PERM, PLUGINS, OTS, EXPLORER, EEA, PRIV, CLIQUE, ENGINE, QBFT)",
      ],
    ],
    [
      { toml: `genesis-file="${DEV_GENESIS_FILE}"\nlogging="LOUD"\nmin-gas-price=-1` },
      [
        "Invalid value for option '--logging': Unknown logging value: LOUD (given as logging in node.toml, line 2; accepted: one of OFF, ERROR, WARN, INFO, DEBUG, TRACE, ALL)",
        "Invalid value for option '--min-gas-price': cannot convert '-1' to Wei (it is below 0) (given as min-gas-price in node.toml, line 3; accepted: a whole number from 0 to 115792089237316195423570985008687907853269984665640564039457584007913129639935 (wei))",
      ],
    ],
    [
      { toml: "identity=1\nwhat=2" },
      ["Unknown option in TOML configuration file: what (node.toml; what in line 2)"],
    ],
    [
      { options: ["config-file=absent.toml"] },
      ["Unable to read TOML configuration, file not found: absent.toml"],
    ],
    [
      { environment: { BESU_CONFIG_FILE: "a.toml" } },
      ["TOML file a.toml specified in environment variable BESU_CONFIG_FILE not found"],
    ],
    [
      { environment: { BESU_CONFIG_FILE: "a.toml" }, options: ["config-file=b.toml"] },
      ["Both BESU_CONFIG_FILE=a.toml and --config-file b.toml specified. Please specify only one."],
    ],
    [
      { toml: 'identity="x"' },
      ["A genesis file is required: name it with --genesis-file, or genesis-file in the configuration file."],
    ],
    [
      { options: ["genesis-file=absent.json"] },
      [
        `Unable to load genesis file. ${join(folder, "absent.json")} does not exist (--genesis-file is given on the command line)`,
      ],
    ],
    [
      { options: ["network=sepolia"] },
      [
        "--network=SEPOLIA cannot be run: the public networks are not IBFT 2.0 chains. A genesis file is required: name that of your network with --genesis-file, or give neither for the development network. (--network is given on the command line)",
      ],
    ],
    [
      { options: ["network=dev", DEV_GENESIS] },
      [
        "--network option and --genesis-file option can't be used at the same time. (--network is given on the command line; --genesis-file is given on the command line)",
      ],
    ],
    ...["SNAP", "X_SNAP"].map((mode): [Given, readonly string[]] => [
      { options: [`sync-mode=${mode}`] },
      ["Snap sync can't be used with BFT networks (--sync-mode is given on the command line)"],
    ]),
    ...["CHECKPOINT", "X_CHECKPOINT"].map((mode): [Given, readonly string[]] => [
      { options: [`sync-mode=${mode}`] },
      ["Checkpoint sync can't be used with BFT networks (--sync-mode is given on the command line)"],
    ]),
    [
      { options: ["block-txs-selection-max-time=5000"] },
      [
        "--block-txs-selection-max-time can't be used with PoA networks, see poa-block-txs-selection-max-time instead (--block-txs-selection-max-time is given on the command line)",
      ],
    ],
    [
      { options: ["tx-pool-price-bump=10"] },
      [
        "Price bump option is not compatible with zero base fee market (--tx-pool-price-bump is given on the command line)",
      ],
    ],
    [
      { options: ["min-gas-price=5", "tx-pool-min-gas-price=6"] },
      [
        "tx-pool-min-gas-price cannot be greater than the value of min-gas-price (--tx-pool-min-gas-price is given on the command line; --min-gas-price is given on the command line)",
      ],
    ],
    [
      { options: ["rpc-http-port=8546"] },
      [
        "Port number '8546' has been specified multiple times. Please review the supplied configuration. (--rpc-http-port is given on the command line)",
      ],
    ],
    [
      { options: ["host-allowlist=*,a.org", "rpc-http-cors-origins=none,a.org"] },
      [
        "Invalid value for option '--host-allowlist': Values '*' or 'all' can't be used with other hostnames (given on the command line; accepted: a list of hostnames separated by commas, or * or all for every one, or none)",
        "Invalid value for option '--rpc-http-cors-origins': Value 'none' can't be used with other domains (given on the command line; accepted: a list of domains separated by commas, or * or all for every one, or none)",
      ],
    ],
    [
      { options: [`miner-extra-data=0x${"00".repeat(33)}`] },
      [
        `Invalid value for option '--miner-extra-data': '0x${"00".repeat(33)}' has 33 bytes, more than 32 (given on the command line; accepted: at most 32 bytes in hexadecimal digits)`,
      ],
    ],
  ])("%j", (sources, problems) => {
    expect(refusal(sources)).toEqual(problems);
  });

  it("but a genesis file in UTF-16 is none", () => {
    const path = join(folder, "utf16.json");
    writeFileSync(path, `\ufeff${readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8")}`, "utf16le");
    expect(settings({ options: [`genesis-file=${path}`] }).chainSpec).toEqual(
      settings({ options: [`genesis-file=${DEV_CANCUN_GENESIS_FILE}`] }).chainSpec,
    );
  });

  it("including problems of the genesis file with its path", () => {
    expect(refusal({ options: [writeGenesis("qbft.json", { qbft: {} })] })).toEqual([
      expect.stringMatching(
        /^Unable to load genesis file\. config\.qbft: QBFT is not supported, nor is a migration to it\. An ibft2 section is expected \(line 1, column \d+ of .*qbft\.json\)$/,
      ),
    ]);
  });

  it("each on one line, even when the value has several", () => {
    expect(refusal({ toml: "rpc-http-port='''8\n9'''\nrpc-ws-port='''1\r\n2'''" })).toEqual([
      expect.stringContaining("Invalid value for option '--rpc-http-port': '8\\n9'"),
      expect.stringContaining("Invalid value for option '--rpc-ws-port': '1\\n2'"),
    ]);
  });

  it("but servers may share port 0, or the port of a disabled server", () => {
    expect(settings({ options: ["rpc-http-port=0", "rpc-ws-port=0"] }).http?.port).toBe(0);
    expect(settings({ options: ["rpc-http-port=8546", "rpc-ws-enabled=false"] }).webSocket).toBeUndefined();
  });
});
