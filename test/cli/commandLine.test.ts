import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/commandLine.ts";

function texts(...args: string[]): Record<string, string> {
  const { raw, problems } = parseCommandLine(args);
  expect(problems).toEqual([]);
  return Object.fromEntries(raw.map(({ name, text }) => [name, text]));
}

describe("the command line", () => {
  it.each<[string[], Record<string, string>]>([
    [[], {}],
    [["--rpc-http-port=1"], { "rpc-http-port": "1" }],
    [["--rpc-http-port", "1"], { "rpc-http-port": "1" }],
    [["--genesis-file=a=b.json"], { "genesis-file": "a=b.json" }],
    [["--identity="], { identity: "" }],
    [["--rpc-http-enabled"], { "rpc-http-enabled": "true" }],
    [["--rpc-http-enabled=false"], { "rpc-http-enabled": "false" }],
    [
      ["--rpc-http-enabled", "FALSE", "--rpc-ws-enabled"],
      { "rpc-http-enabled": "FALSE", "rpc-ws-enabled": "true" },
    ],
    [["--rpc-http-api=ETH", "--rpc-http-apis", "NET,WEB3"], { "rpc-http-api": "ETH,NET,WEB3" }],
    [
      ["--rpc-http-api", "ETH", "NET", "--rpc-http-port=1"],
      { "rpc-http-api": "ETH,NET", "rpc-http-port": "1" },
    ],
    [["-l", "DEBUG"], { logging: "DEBUG" }],
    [["-l=DEBUG"], { logging: "DEBUG" }],
    [["-lDEBUG"], { logging: "DEBUG" }],
    [["--rpc-http-max-batch-size", "-1"], { "rpc-http-max-batch-size": "-1" }],
    [["--Xhttp-timeout-seconds=5"], { "Xhttp-timeout-seconds": "5" }],
  ])("%j", (args, expected) => {
    expect(texts(...args)).toEqual(expected);
  });

  it.each<[string[], ReturnType<typeof parseCommandLine>["immediate"], string]>([
    [["--help"], "help", ""],
    [["-h", "--version"], "help", ""],
    [["-V"], "version", ""],
    [["--help=false"], undefined, ""],
    [["validate-config", "--config-file=x"], undefined, "validate-config"],
    [["validate-config", "-h"], "help", "validate-config"],
    [["rlp", "encode", "--help"], "help", "rlp encode"],
    [["storage", "trie-log", "prune", "--help"], "help", "storage trie-log prune"],
  ])("%j requests %j with the command %j", (args, immediate, words) => {
    expect(parseCommandLine(args)).toMatchObject({ immediate, words, problems: [] });
  });

  it("accepts options of the command and of the node, and keeps them apart", () => {
    const { raw, texts, words } = parseCommandLine([
      "--data-path=a",
      "public-key",
      "export",
      "--to",
      "b",
      "--node-private-key-file=c",
    ]);
    expect(words).toBe("public-key export");
    expect(raw.map(({ name, text }) => [name, text])).toEqual([
      ["data-path", "a"],
      ["node-private-key-file", "c"],
    ]);
    expect([...texts]).toEqual([["to", "b"]]);
  });

  it("accepts any option of a command without effect", () => {
    const { words, problems } = parseCommandLine(["storage", "rocksdb", "usage", "--what=ever", "word"]);
    expect({ words, problems }).toEqual({ words: "storage rocksdb usage", problems: [] });
  });

  it.each<[string[], readonly string[]]>([
    [["--rpc-http-prot=1"], ["Unknown option: '--rpc-http-prot'\nPossible solutions: --rpc-http-port"]],
    [["--rpc-http-prot", "1"], ["Unknown option: '--rpc-http-prot'\nPossible solutions: --rpc-http-port"]],
    [["--RPC-HTTP-PORT=1"], ["Unknown option: '--RPC-HTTP-PORT'\nPossible solutions: --rpc-http-port"]],
    [["--quux"], ["Unknown option: '--quux'"]],
    [["--rpc-http-port"], ["Missing required parameter for option '--rpc-http-port' (<PORT>)"]],
    [["--data-path", "--rpc-http-enabled"], ["Missing required parameter for option '--data-path' (<PATH>)"]],
    [["--rpc-http-api"], ["Missing required parameter for option '--rpc-http-api' (<API,...>)"]],
    [
      ["--rpc-http-port=1", "--rpc-http-port=2"],
      ["option '--rpc-http-port' (<PORT>) should be specified only once"],
    ],
    [["start"], ["Unmatched argument at index 0: 'start'"]],
    [["blcoks", "import", "file"], ["Unmatched argument at index 0: 'blcoks'\nPossible solutions: blocks"]],
    [["blocks", "imprt"], ["Unmatched argument at index 1: 'imprt'\nPossible solutions: import"]],
    [
      ["export"],
      [
        "Unmatched argument at index 0: 'export'\n" +
          "Possible solutions: blocks export, snapshot export, public-key export, data export",
      ],
    ],
    [["data-export"], ["Unmatched argument at index 0: 'data-export'\nPossible solutions: data export"]],
    [["help"], ["Unmatched argument at index 0: 'help'\nPossible solutions: --help"]],
    [["rpl"], ["Unmatched argument at index 0: 'rpl'\nPossible solutions: rlp"]],
    [
      ["--rpc-http-enabled", "valdate-config"],
      ["Unmatched argument at index 1: 'valdate-config'\nPossible solutions: validate-config"],
    ],
    [["validate-config", "--data-path=x"], ["Unknown option: '--data-path'"]],
    [["--to=x", "rlp", "encode"], ["Unknown option: '--to'"]],
    [["rlp", "encode", "--form=x"], ["Unknown option: '--form'\nPossible solutions: --from"]],
    [["rlp", "encode", "x"], ["Unmatched argument at index 2: 'x'"]],
    [["rlp", "encode", "--to"], ["Missing required parameter for option '--to' (<PATH>)"]],
    [["rlp", "encode", "--to=x", "--to=y"], ["option '--to' (<PATH>) should be specified only once"]],
    [["rlp"], ["Missing required subcommand: one of encode, decode"]],
    [["storage", "trie-log"], ["Missing required subcommand: one of count, prune, export, import"]],
  ])("%j is refused", (args, problems) => {
    expect(parseCommandLine(args).problems).toEqual(problems);
  });

  it("never throws, whatever the arguments", () => {
    const words = fc.constantFrom(
      "--",
      "-",
      "-l",
      "--=",
      "--rpc-http-api",
      "--help=",
      "-hx",
      "true",
      "validate-config",
      "=",
      "",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string())), (args) => {
        expect(parseCommandLine(args)).toHaveProperty("problems");
      }),
    );
  });
});
