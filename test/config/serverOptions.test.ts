import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { LONGEST_SOCKET_PATH } from "../../src/rpc/server/unixSocket.ts";
import { settingsOf } from "../node/settingsOf.ts";

/** Connection limits and trusted origins of the servers. */

function serversOf(options: Readonly<Record<string, string>> = {}) {
  const { http, webSocket } = settingsOf("/", { "rpc-http-max-active-connections": "80", ...options });
  return { http, webSocket };
}

describe("connections of one address", () => {
  it("are limited to three quarters of each server's by default", () => {
    const { http, webSocket } = serversOf({ "rpc-ws-max-active-connections": "1" });
    expect([http?.maxConnectionsPerAddress, webSocket?.maxConnectionsPerAddress]).toEqual([60, 1]);
    const told = serversOf({ "rpc-max-connections-per-address": "7" });
    expect([told.http, told.webSocket]).toMatchObject([
      { maxConnectionsPerAddress: 7 },
      { maxConnectionsPerAddress: 7 },
    ]);
  });

  it("are not limited for this host, nor for configured proxies", () => {
    expect(serversOf().http?.proxyAddresses).toEqual(["localhost"]);
    expect(serversOf({ "rpc-proxy-addresses": "none" }).webSocket?.proxyAddresses).toEqual([]);
    const proxies = "10.0.0.5, ::1,localhost";
    expect(serversOf({ "rpc-proxy-addresses": proxies }).http?.proxyAddresses).toEqual([
      "10.0.0.5",
      "::1",
      "localhost",
    ]);
    for (const broken of ["proxy.example", "10.0.0", "", "10.0.0.5,"])
      expect(() => serversOf({ "rpc-proxy-addresses": broken })).toThrow("is not an IP address");
  });
});

describe("origins that are trusted", () => {
  it("are those of --rpc-ws-origins on both servers, and those of --rpc-http-cors-origins over HTTP", () => {
    const [one, other] = ["http://a.example", "http://b.example:3000"];
    const { http, webSocket } = serversOf({ "rpc-ws-origins": one, "rpc-http-cors-origins": other });
    expect(webSocket?.trustedOrigins).toEqual([one]);
    expect(http).toMatchObject({ trustedOrigins: [one, other], corsOrigins: [other] });
    expect(serversOf().webSocket?.trustedOrigins).toEqual([]);
  });
});

describe("GraphQL", () => {
  const NETWORK = { "genesis-file": DEV_GENESIS_FILE };

  it("is off, and has a port of its own, with the bodies and times of HTTP", () => {
    expect(settingsOf("/", {}).graphQl).toBeUndefined();
    const { graphQl, warnings } = settingsOf("/", { ...NETWORK, "graphql-http-enabled": "true" });
    expect(graphQl).toEqual({
      host: "127.0.0.1",
      port: 8547,
      hostAllowlist: ["localhost", "127.0.0.1"],
      corsOrigins: [],
      maxConnections: 80,
      maxConnectionsPerAddress: 60,
      proxyAddresses: ["localhost"],
      maxBodyBytes: 5_242_880,
      timeoutMs: 300_000,
    });
    expect(warnings).toEqual([]);
  });

  it("has Besu's options, and shares those of HTTP although that is off", () => {
    const { graphQl, http, warnings } = settingsOf("/", {
      ...NETWORK,
      "graphql-http-enabled": "true",
      "graphql-http-host": "0.0.0.0",
      "graphql-http-port": "0",
      "graphql-http-cors-origins": "http://a.example,http://b.example",
      "graphql-http-max-active-connections": "8",
      "host-allowlist": "*",
      "rpc-http-max-request-content-length": "1000",
      "Xhttp-timeout-seconds": "5",
    });
    expect(http).toBeUndefined();
    expect(graphQl).toMatchObject({
      host: "0.0.0.0",
      port: 0,
      corsOrigins: ["http://a.example", "http://b.example"],
      maxConnections: 8,
      maxConnectionsPerAddress: 6,
      hostAllowlist: ["*"],
      maxBodyBytes: 1000,
      timeoutMs: 5000,
    });
    expect(warnings).toEqual([]);
  });

  it("needs another port than other servers", () => {
    const same = { ...NETWORK, "graphql-http-enabled": "true", "rpc-http-enabled": "true" };
    expect(() => settingsOf("/", { ...same, "graphql-http-port": "8545" })).toThrow(
      "Port number '8545' has been specified multiple times",
    );
    expect(settingsOf("/", { ...NETWORK, "graphql-http-port": "8545" }).warnings).toEqual([
      "graphql-http-port has been ignored because --graphql-http-enabled was not defined on the command line.",
    ]);
  });
});

describe("the explorer", () => {
  const NETWORK = { "genesis-file": DEV_GENESIS_FILE };

  it("is off, and on a port of its own where it is on", () => {
    expect(settingsOf("/", NETWORK).explorer).toBeUndefined();
    expect(settingsOf("/", { ...NETWORK, "explorer-enabled": "true" }).explorer).toEqual({
      host: "127.0.0.1",
      port: 8549,
      isAnyPortFine: false,
      hostAllowlist: ["localhost", "127.0.0.1"],
      maxConnections: 200,
      maxConnectionsPerAddress: 150,
      visitorProxies: [],
      coinSymbol: "ETH",
      verifier: undefined,
      proxyAddresses: ["localhost"],
    });
    const same = {
      ...NETWORK,
      "explorer-enabled": "true",
      "explorer-port": "8545",
      "rpc-http-enabled": "true",
    };
    expect(() => settingsOf("/", same)).toThrow("specified multiple times");
  });

  it("shows the coin by a symbol as wallets take it", () => {
    const named = { ...NETWORK, "explorer-enabled": "true", "explorer-coin-symbol": "ACME" };
    expect(settingsOf("/", named).explorer?.coinSymbol).toBe("ACME");
    for (const symbol of ["<b>", "A".repeat(12), "A B"])
      expect(() => settingsOf("/", { ...named, "explorer-coin-symbol": symbol })).toThrow("symbol");
  });

  it("verifies contracts with the compilers of a folder, and not on validators unless that is asked for", () => {
    const named = { ...NETWORK, "data-path": "/data", "explorer-enabled": "true" };
    const compilers = { ...named, "explorer-verify-compilers": "/compilers" };
    expect(settingsOf("/", compilers).explorer?.verifier).toEqual({
      compilersPath: "/compilers",
      contractsPath: "/data/explorer-contracts",
      runsOnValidators: false,
    });
    const forced = { ...compilers, "explorer-verify-on-validators": "true" };
    expect(settingsOf("/", forced).explorer?.verifier?.runsOnValidators).toBe(true);
  });

  it("is on for the development network, where any port is fine unless one was given", () => {
    expect(settingsOf("/", {}).explorer).toMatchObject({ port: 8549, isAnyPortFine: true });
    expect(settingsOf("/", { "explorer-port": "9000" }).explorer).toMatchObject({ isAnyPortFine: false });
    expect(settingsOf("/", { "explorer-enabled": "false" }).explorer).toBeUndefined();
  });
});

describe("the Unix socket", () => {
  it("is off, and in the data folder where it is on, with Besu's default groups and those of development", () => {
    expect(settingsOf("/", { "data-path": "/data" }).ipc).toBeUndefined();
    expect(settingsOf("/", { "data-path": "/data", "Xrpc-ipc-enabled": "true" }).ipc).toEqual({
      path: "/data/besu.ipc",
      groups: ["ETH", "NET", "WEB3", "EVM", "HARDHAT", "ANVIL"],
      authentication: undefined,
      maxConnections: 80,
      maxConnectionsPerAddress: 80,
      proxyAddresses: [],
      timeoutMs: 300_000,
    });
    const chosen = { "Xrpc-ipc-enabled": "true", "Xrpc-ipc-path": "/run/x.ipc", "Xrpc-ipc-api": "ADMIN" };
    expect(settingsOf("/", chosen).ipc).toMatchObject({ path: "/run/x.ipc", groups: ["ADMIN"] });
  });

  it("has a path that fits into the address of a Unix socket", () => {
    const pathOf = (bytes: number) => `/${"é".repeat((bytes - 1) / 2)}`;
    const longest = LONGEST_SOCKET_PATH;
    const settings = (bytes: number) => ({ "Xrpc-ipc-enabled": "true", "Xrpc-ipc-path": pathOf(bytes) });
    expect(settingsOf("/", settings(longest)).ipc?.path).toBe(pathOf(longest));
    expect(() => settingsOf("/", settings(longest + 2))).toThrow(
      `The path of a Unix socket has at most ${longest} bytes, and ${pathOf(longest + 2)} has ${longest + 2}. Choose a shorter one with --Xrpc-ipc-path.`,
    );
    expect(() => settingsOf("/", { "data-path": pathOf(longest), "Xrpc-ipc-enabled": "true" })).toThrow(
      "besu.ipc has",
    );
    expect(settingsOf("/", { "data-path": pathOf(longest) }).ipc).toBeUndefined();
  });
});
