import { describe, expect, it } from "vitest";
import { type Environment, readEnvironment, variablesOf } from "../../src/config/environment.ts";
import { OPTION_NAMES } from "../../src/config/options.ts";

function given(environment: Environment) {
  return readEnvironment(environment).raw.map(({ name, text, source }) => [name, text, source]);
}

describe("environment variables", () => {
  it("give options under our prefix and Besu's, by name and alias", () => {
    expect(
      given({
        IBEX_RPC_HTTP_PORT: "1",
        BESU_RPC_WS_APIS: "ETH",
        BESU_XHTTP_TIMEOUT_SECONDS: "9",
        PATH: "/bin",
        LOG_LEVEL: "WARN",
      }),
    ).toEqual([
      ["logging", "WARN", { kind: "environment", variable: "LOG_LEVEL" }],
      ["rpc-http-port", "1", { kind: "environment", variable: "IBEX_RPC_HTTP_PORT" }],
      ["Xhttp-timeout-seconds", "9", { kind: "environment", variable: "BESU_XHTTP_TIMEOUT_SECONDS" }],
      ["rpc-ws-api", "ETH", { kind: "environment", variable: "BESU_RPC_WS_APIS" }],
    ]);
  });

  it("have precedence with our prefix, and warn when the other differs", () => {
    const reading = readEnvironment({ BESU_IDENTITY: "theirs", IBEX_IDENTITY: "ours" });
    expect(reading.raw).toMatchObject([{ name: "identity", text: "ours" }]);
    expect(reading.warnings).toEqual(["IBEX_IDENTITY counts; BESU_IDENTITY says otherwise and is ignored."]);
    expect(readEnvironment({ BESU_IDENTITY: "same", IBEX_IDENTITY: "same" }).warnings).toEqual([]);
  });

  it("are read with Besu's former prefix, with the lowest precedence", () => {
    expect(given({ PANTHEON_IDENTITY: "old" })).toMatchObject([["identity", "old", {}]]);
    expect(given({ PANTHEON_IDENTITY: "old", BESU_IDENTITY: "new" })).toMatchObject([
      ["identity", "new", {}],
    ]);
  });

  it("are ignored when empty", () => {
    expect(given({ IBEX_IDENTITY: "", BESU_IDENTITY: "x" })).toMatchObject([["identity", "x", {}]]);
  });

  it("give a warning when they resemble an option, and are ignored otherwise", () => {
    expect(
      readEnvironment({
        IBEX_RPC_HTTP_PROT: "1",
        BESU_OPTS: "-Xmx4g",
        IBEX_VECTORS: "/v",
        RPC_HTTP_PROT: "1",
      }).warnings,
    ).toEqual(["IBEX_RPC_HTTP_PROT is not an option and is ignored; is IBEX_RPC_HTTP_PORT meant?"]);
  });

  it("are never shared by two options", () => {
    const all = OPTION_NAMES.flatMap((name) => [...variablesOf(name)]);
    expect(new Set(all).size).toBe(all.length);
  });
});
