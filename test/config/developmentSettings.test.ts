import { describe, expect, it } from "vitest";
import { type ApiGroup, DEVELOPMENT_API_GROUPS } from "../../src/config/apiGroups.ts";
import type { Settings } from "../../src/config/settings.ts";
import { DEV_GENESIS, type Given, settingsIn } from "./settingsIn.ts";

const { settings, problems } = settingsIn("ibex-development-");
/** A point of the curve. */
const GENERATOR =
  "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
  "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
const IPC = "--Xrpc-ipc-enabled=true";

/** Where the groups of development are offered. */
function offered({ http, webSocket, ipc }: Settings): readonly string[] {
  return Object.entries({ http, webSocket, ipc })
    .filter(([, server]) => server?.groups.some((group: ApiGroup) => DEVELOPMENT_API_GROUPS.includes(group)))
    .map(([name]) => name);
}

describe("the comforts of the development network", () => {
  it("are offered on all servers of the network that npm start runs", () => {
    const ours = settings({ args: [IPC] });
    expect(offered(ours)).toEqual(["http", "webSocket", "ipc"]);
    expect(ours.development).toEqual({ isInstant: false, isRemoteAllowed: false });
    expect(settings({ args: ["--dev-instant-blocks"] }).development).toMatchObject({ isInstant: true });
    expect(settings({ environment: { IBEX_DEV_INSTANT_BLOCKS: "true" } }).development).toMatchObject({
      isInstant: true,
    });
  });

  it("are left out of what an operator names without them", () => {
    expect(offered(settings({ args: [IPC, "--rpc-http-api=ETH,DEBUG"] }))).toEqual(["webSocket", "ipc"]);
  });
});

/** Every way to another network, key or set of peers. */
const ELSEWHERE: readonly (readonly [string, Given])[] = [
  ["a genesis file, even the same one", { args: [DEV_GENESIS] }],
  ["a configuration file", { toml: `${DEV_GENESIS.slice(2).replace("=", '="')}"\n` }],
  ["a genesis file by the environment", { environment: { BESU_GENESIS_FILE: DEV_GENESIS.split("=")[1] } }],
  ["peers", { args: ["--p2p-enabled=true"] }],
  ["peers by the environment", { environment: { IBEX_P2P_ENABLED: "true" } }],
  ["another key", { args: ["--node-private-key-file=other.key"] }],
  [
    "a keystore",
    { args: ["--node-keystore-file=keystore.json", "--node-keystore-password-file=password.txt"] },
  ],
  [
    "a remote signer",
    {
      args: ["--validator-signer-url=http://127.0.0.1:9000", `--validator-signer-public-key=0x${GENERATOR}`],
    },
  ],
  ["another genesis by its overrides", { args: ["--override-genesis-config=chainId=1338"] }],
];

/** Every way to name a comfort. */
const NAMED: readonly (readonly [string, Given])[] = [
  ...["EVM", "HARDHAT", "ANVIL", "ETH,ANVIL"].map((groups): readonly [string, Given] => [
    `${groups} over HTTP`,
    { args: [`--rpc-http-api=${groups}`] },
  ]),
  ["EVM over HTTP by its other name", { args: ["--rpc-http-apis=EVM"] }],
  ["EVM over WebSocket", { args: ["--rpc-ws-api=EVM"] }],
  ["EVM over IPC", { args: [IPC, "--Xrpc-ipc-api=EVM"] }],
  ["EVM by the environment", { environment: { IBEX_RPC_HTTP_API: "EVM" } }],
  ["EVM by Besu's environment", { environment: { BESU_RPC_WS_API: "EVM" } }],
  ["instant blocks", { args: ["--dev-instant-blocks"] }],
  ["instant blocks by the environment", { environment: { IBEX_DEV_INSTANT_BLOCKS: "true" } }],
  ["other machines", { args: ["--dev-allow-remote"] }],
];

describe.each(ELSEWHERE)("with %s", (_, where) => {
  it("no comfort is offered", () => {
    const elsewhere = settings(where);
    expect(elsewhere.development).toBeUndefined();
    expect(offered(elsewhere)).toEqual([]);
  });

  it.each(NAMED)("%s stops the start, which says why", (_name, comfort) => {
    const both = {
      args: [...(where.args ?? []), ...(comfort.args ?? [])],
      environment: { ...where.environment, ...comfort.environment },
      ...(where.toml !== undefined && { toml: where.toml }),
    };
    const found = problems(both);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain("the development network alone (npm start)");
  });
});

describe("a configuration file", () => {
  it.each([
    'rpc-http-api=["EVM"]',
    'rpc-ws-api=["HARDHAT"]',
    'Xrpc-ipc-api=["ANVIL"]',
    "dev-instant-blocks=true",
    "dev-allow-remote=true",
  ])("names no comfort: %s", (line) => {
    const toml = `${DEV_GENESIS.slice(2).replace("=", '="')}"\n${line}\n`;
    expect(problems({ toml })).toEqual([
      expect.stringContaining("the development network alone (npm start)"),
    ]);
  });
});

describe("callers with tokens", () => {
  it("are not let through to a comfort by name, in any network", () => {
    for (const where of [[], [DEV_GENESIS]])
      expect(problems({ args: [...where, "--rpc-http-api-method-no-auth=evm_mine"] })).toEqual([
        expect.stringContaining("options must be valid RPC methods"),
      ]);
  });
});

describe("on another address than loopback", () => {
  const REMOTE = ["--rpc-http-host=0.0.0.0", "--rpc-ws-host=::"];

  it("the groups are off, and stop the start when they are named, unless it is allowed", () => {
    expect(offered(settings({ args: [...REMOTE, IPC] }))).toEqual(["ipc"]);
    expect(problems({ args: [...REMOTE, "--rpc-http-api=ETH,EVM"] })).toEqual([
      expect.stringContaining(
        "EVM of --rpc-http-api let every program that reaches 0.0.0.0 change this chain",
      ),
    ]);
    expect(offered(settings({ args: [...REMOTE, "--dev-allow-remote"] }))).toEqual(["http", "webSocket"]);
  });

  it.each(["127.0.0.1", "127.1.2.3", "localhost", "::1"])("%s is loopback", (host) => {
    expect(offered(settings({ args: [`--rpc-http-host=${host}`, "--rpc-ws-enabled=false"] }))).toEqual([
      "http",
    ]);
  });

  it.each(["127.evil.example", "10.0.0.1", "0.0.0.0"])("%s is not", (host) => {
    expect(offered(settings({ args: [`--rpc-http-host=${host}`, "--rpc-ws-enabled=false"] }))).toEqual([]);
  });
});
