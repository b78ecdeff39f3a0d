import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readToml } from "../../src/config/toml.ts";
import { casesOf, itIfThorough } from "../thorough.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";

/** The raw values of a file, by option. */
function texts(toml: string): Record<string, string> {
  const { raw, problems } = readToml(toml, "node.toml");
  expect(problems).toEqual([]);
  return Object.fromEntries(raw.map(({ name, text }) => [name, text]));
}

function problems(toml: string): readonly string[] {
  return readToml(toml, "node.toml").problems;
}

/** Steps of `work`: comparing two names takes a minimum for each pair of their characters. */
function minimaTakenBy(work: () => void): number {
  const { min } = Math;
  let count = 0;
  Math.min = (...values) => {
    count += 1;
    return min(...values);
  };
  try {
    work();
  } finally {
    Math.min = min;
  }
  return count;
}

describe("a TOML file", () => {
  itIfThorough("gets suggestions for unknown keys quickly, however long and many they are", () => {
    const many = Array.from({ length: 30 }, (_, index) => `rpc-http-max-request-contents-${index}=1`);
    const text = [...many, `${"a".repeat(300_000)}=1`, "rpc-http-prot=1"].join("\n");
    let found: readonly string[] = [];
    const minima = minimaTakenBy(() => {
      found = problems(text);
    });
    expect(found[0]).toContain("is rpc-http-port meant?");
    expect(minima).toBeLessThan(2_000_000);
  });

  it.each([
    ['host-allowlist=["*"]', { "host-allowlist": "*" }],
    ['host-allowlist="all"', { "host-allowlist": "all" }],
    ['rpc-http-api=["ETH","NET"]', { "rpc-http-api": "ETH,NET" }],
    ['rpc-http-api=["ETH,NET"]', { "rpc-http-api": "ETH,NET" }],
    ['rpc-http-api="ETH, NET"', { "rpc-http-api": "ETH, NET" }],
    ["rpc-http-api=[]", { "rpc-http-api": "" }],
    ["rpc-http-enabled=true", { "rpc-http-enabled": "true" }],
    ['rpc-http-enabled="true"', { "rpc-http-enabled": "true" }],
    ["target-gas-limit=100_000", { "target-gas-limit": "100000" }],
    ['rpc-http-port="8545"', { "rpc-http-port": "8545" }],
    ["rpc-http-port=[8545]", { "rpc-http-port": "8545" }],
    ['data-path=["data"]', { "data-path": "data" }],
    ["rpc-http-port=[1,2]", { "rpc-http-port": "1,2" }],
    ["min-gas-price=0x3e8", { "min-gas-price": "1000" }],
    ["rpc-tx-feecap=99999999999999999999", { "rpc-tx-feecap": "99999999999999999999" }],
    ["min-block-occupancy-ratio=0.5", { "min-block-occupancy-ratio": "0.5" }],
    ["identity=5", { identity: "5" }],
    ["Xhttp-timeout-seconds=5", { "Xhttp-timeout-seconds": "5" }],
    [
      '[rpc]\nrpc-http-port=1\n[rpc.ws]\nrpc-ws-port=2\na.b.identity="x"',
      { "rpc-http-port": "1", "rpc-ws-port": "2", identity: "x" },
    ],
    ['\ufeff# windows\r\nidentity="x"\r\n', { identity: "x" }],
    ['rpc-http-apis=["NET"]\nrpc-http-api=["ETH"]', { "rpc-http-api": "ETH" }],
    ['host-whitelist=["a"]', { "host-allowlist": "a" }],
  ])("%j gives %j", (toml, expected) => {
    expect(texts(toml)).toEqual(expected);
  });

  it("records file, key and line of every value", () => {
    const toml = '# a comment\n\n"rpc-http-port" = 1\n[x]\n  rpc-ws-apis=["ETH"]\n';
    expect(readToml(toml, "node.toml").raw.map(({ source }) => source)).toEqual([
      { kind: "file", path: "node.toml", key: "rpc-http-port", line: 3 },
      { kind: "file", path: "node.toml", key: "rpc-ws-apis", line: 5 },
    ]);
  });
});

describe("a TOML file that gives an option by two of its names", () => {
  it("warns which one wins when they differ, and not when they agree", () => {
    expect(readToml('rpc-http-apis=["NET"]\nrpc-http-api=["ETH"]', "node.toml").warnings).toEqual([
      "rpc-http-api counts, given as rpc-http-api in node.toml, line 2; rpc-http-apis says otherwise and is ignored.",
    ]);
    expect(readToml('rpc-http-apis=["ETH"]\nrpc-http-api="ETH"', "node.toml").warnings).toEqual([]);
  });
});

describe("an invalid TOML file is refused", () => {
  it.each([
    [
      "host-allowlist=[*]",
      'Invalid TOML configuration: invalid value (line 1, column 17) in node.toml. Texts need quotes: host-allowlist=["*"]',
    ],
    [
      "identity=1\nrpc-http-api=[ETH, NET]",
      'Invalid TOML configuration: invalid value (line 2, column 15) in node.toml. Texts need quotes: rpc-http-api=["ETH","NET"]',
    ],
    [
      "sync-mode = FULL",
      'Invalid TOML configuration: invalid value (line 1, column 13) in node.toml. Texts need quotes: sync-mode="FULL"',
    ],
    ['identity="x', "Invalid TOML configuration: unfinished string (line 1, column 10) in node.toml"],
    [
      "identity=1\nidentity=2",
      "Invalid TOML configuration: trying to redefine an already defined table or value (line 2, column 1) in node.toml",
    ],
    ["# nothing\n", "Unable to read TOML configuration file node.toml: nothing is set in it"],
    ["", "Unable to read TOML configuration file node.toml: nothing is set in it"],
    [
      "rpc-http-hosts=1",
      "Unknown option in TOML configuration file: rpc-http-hosts (node.toml; rpc-http-hosts in line 1: is rpc-http-host meant?)",
    ],
    [
      "identity=1\nfoo=1\n[x]\nbar.rpc-http-prot=2",
      "Unknown options in TOML configuration file: foo, rpc-http-prot (node.toml; foo in line 2; rpc-http-prot in line 4: is rpc-http-port meant?)",
    ],
    [
      "rpc-http-enabled=[true]",
      "Invalid value for option '--rpc-http-enabled': a list is given as rpc-http-enabled in node.toml, line 1; accepted: true or false",
    ],
    [
      "rpc-http-api=[[1]]",
      "Invalid value for option '--rpc-http-api': a list is given as rpc-http-api in node.toml, line 1; accepted: a list separated by commas of ETH, NET, WEB3, TXPOOL, DEBUG, TRACE, ADMIN, MINER, IBFT, PERM, PLUGINS, OTS, EXPLORER, EEA, PRIV, CLIQUE, ENGINE, QBFT",
    ],
    [
      "identity=1979-05-27",
      "Invalid value for option '--identity': a date is given as identity in node.toml, line 1; accepted: a name",
    ],
    [
      "[a]\nidentity=1\n[b]\nidentity=2",
      "identity is given twice in node.toml, in two tables with different values",
    ],
    [
      "[a]\nidentity=1\n[b]\nidentity=2\n[c]\nidentity=3",
      "identity is given twice in node.toml, in two tables with different values",
    ],
  ])("%j", (toml, problem) => {
    expect(problems(toml)).toEqual([problem]);
  });

  it("may give a key in two tables alike, and once outside of tables, which counts", () => {
    const alike = readToml('[a]\nidentity="x"\n[b]\nidentity="x"', "node.toml");
    expect([alike.raw.map(({ text }) => text), alike.problems, alike.warnings]).toEqual([["x"], [], []]);
    const outside = readToml('a.identity="x"\nidentity="y"\n[b]\nidentity="x"', "node.toml");
    expect([outside.raw.map(({ text }) => text), outside.problems, outside.warnings]).toEqual([
      ["y"],
      [],
      ["identity is given twice in node.toml: the value outside of tables counts, the other one is ignored."],
    ]);
  });

  it("may have keys that mean nothing in it, as in Besu, and is told so", () => {
    const { raw, problems: found, warnings } = readToml('config-file="a.toml"\nhelp=true', "node.toml");
    expect([raw, found, warnings]).toEqual([
      [],
      [],
      [
        "config-file has no effect in a file; it is given as config-file in node.toml, line 1.",
        "help has no effect in a file; it is given as help in node.toml, line 2.",
      ],
    ]);
  });

  it("never throws, whatever its content", () => {
    const pieces = fc.constantFrom(
      "identity",
      "=",
      "[",
      "]",
      '"',
      "'",
      "1",
      "\n",
      "#",
      "{",
      "}",
      ",",
      ".",
      "*",
      "true",
      "\\",
      "rpc-http-api",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 15 }), (parts) => {
        const reading = readToml(parts.join(""), "node.toml");
        expect(reading.raw.length + reading.problems.length).toBeGreaterThan(0);
      }),
      { numRuns: casesOf(3000) },
    );
  });
});

describeWithVectors("Besu's example files", () => {
  it.each(["complete_config.toml", "everything_config.toml", "no_bootnodes.toml", "partial_config.toml"])(
    "%s is read, and all of its keys are known",
    (file) => {
      const reading = readToml(readFileSync(vectorPath("besu-core", "cli", file), "utf8"), file);
      expect(reading.raw.length).toBeGreaterThan(0);
      expect(reading.problems).toEqual([]);
    },
  );

  it("the full example sets every option by its name, even where it uses an alias", () => {
    const reading = readToml(
      readFileSync(vectorPath("besu-core", "cli", "everything_config.toml"), "utf8"),
      "everything.toml",
    );
    const given = Object.fromEntries(reading.raw.map(({ name, text }) => [name, text]));
    expect(given).toMatchObject({
      "data-path": "~/besudata",
      "rpc-tx-feecap": "2000000000000000000",
      "tx-pool-priority-senders":
        "0xABC0000000000000000000000000000000001234,0xDEF0000000000000000000000000000000001234",
      "host-allowlist": "all",
      "sync-min-peers": "5",
      "api-gas-price-percentile": "50",
    });
  });
});
