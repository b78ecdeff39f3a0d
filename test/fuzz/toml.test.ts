import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll } from "vitest";
import { OPTION_NAMES, type OptionName, optionNamed, spellingsOf } from "../../src/config/options.ts";
import type { RawOption } from "../../src/config/rawOption.ts";
import { readSettings } from "../../src/config/readSettings.ts";
import type { Settings } from "../../src/config/settings.ts";
import { readToml } from "../../src/config/toml.ts";
import type { Result } from "../../src/primitives/result.ts";
import { vectorPath, vectorsDirectory } from "../vectors.ts";
import { ACCEPTED, fuzz } from "./fuzzing.ts";
import { mutatedText } from "./mutatedInputs.ts";

/**
 * Configuration files: reading yields settings or problems, always the same; each problem names its option or the file,
 * and for a wrong value its source; and a file means the same as its options on the command line.
 */
const folder = mkdtempSync(join(tmpdir(), "ibex-fuzz-"));
const root = resolve(import.meta.dirname, "..", "..");
cpSync(join(root, "genesis"), join(folder, "genesis"), { recursive: true });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FILE = "node.toml";

fuzz({
  name: "TOML",
  inputs: () =>
    fc.oneof(
      // Real files are long: each takes as much time as many small ones.
      { weight: 1, arbitrary: mutatedText(fc.constantFrom(...realFiles()), TOKENS) },
      { weight: 8, arbitrary: mutatedText(configText(), TOKENS) },
      { weight: 8, arbitrary: configText() },
    ),
  dailyInputs: 300,
  spread: { outcomes: 12, accepted: [0.05, 0.7] },
  validate(text) {
    writeFileSync(join(folder, FILE), text);
    const outcome = settingsBy([]);
    // Reading it three times would take three times as long, and differences would not be rare.
    const isComparedToo = text.length % 8 === 0;
    if (isComparedToo && !isDeepStrictEqual(outcome, settingsBy([])))
      throw new Error("read otherwise the second time");
    if (!outcome.ok) return `refused: ${kindsOf(outcome.error.message)}`;
    if (isComparedToo) expectSameByCommandLine(text, outcome.value);
    return outcome.value.warnings.length === 0 ? ACCEPTED : ACCEPTED_WITH_WARNINGS;
  },
});

const ACCEPTED_WITH_WARNINGS = "accepted with warnings";

function settingsBy(given: readonly RawOption[]): Result<Settings, "badConfiguration"> {
  return readSettings({
    raw: [{ name: "config-file", text: FILE, source: { kind: "commandLine" } }, ...given],
    environment: {},
    workingDirectory: folder,
    isTerminal: false,
  });
}

function expectSameByCommandLine(text: string, settings: Settings): void {
  const given = readToml(text, FILE).raw.map(
    (each): RawOption => ({ ...each, source: { kind: "commandLine" } }),
  );
  const again = settingsBy(given);
  if (!again.ok) throw new Error(`refused on the command line: ${again.error.message}`);
  if (!isDeepStrictEqual({ ...again.value, warnings: [] }, { ...settings, warnings: [] }))
    throw new Error("other settings on the command line");
}

/** The kinds of problems; a line that names neither option nor file is a finding. */
function kindsOf(message: string): string {
  const [first = "", ...others] = message.split(/\n(?=[A-Z-])/);
  for (const problem of [first, ...others]) {
    const isNamed = problem.includes(FILE) || ALL_SPELLINGS.some((spelling) => problem.includes(spelling));
    if (!isNamed && !BESU_TEXTS.some((words) => problem.includes(words)))
      throw new Error(`a problem that names neither option nor file: ${problem}`);
    if (/^Invalid value for option/.test(problem) && !WRONG_VALUE.test(problem))
      throw new Error(`a wrong value without origin: ${problem}`);
  }
  return (others.length === 0 ? "" : "several, the first: ") + kindOf(first);
}

const ALL_SPELLINGS = OPTION_NAMES.flatMap(spellingsOf);
const WRONG_VALUE = /^Invalid value for option '--[\w-]+': .+given as .+ in node\.toml/s;

/** Besu's own texts, which operators look for. */
const BESU_TEXTS = [
  "Snap sync can't be used with BFT networks",
  "Checkpoint sync can't be used with BFT networks",
  "has been specified multiple times",
  "Price bump option is not compatible with zero base fee market",
  "genesis file",
  // With the path of the missing file.
  "Unable to read permissioning TOML config file",
];

function kindOf(problem: string): string {
  return problem
    .replaceAll(folder, "…")
    .replace(/(?<=^Unknown options? in TOML configuration file: ).*/s, "…")
    .replace(/(?<=^Invalid TOML configuration: .*) \(line .*/s, "")
    .replace(/'--[\w-]+'/, "'--…'")
    .replace(/(?<=^Invalid value for option '--…': .*)\(?(given|is given|;|expected|\().*/s, "")
    .replace(/(?<=.)['"[].*?['"\]]/gs, "'…'")
    .replace(/(?<=file \S*)[^\s/]+ does not exist/, "… does not exist")
    .replace(/\d+/g, "n")
    .slice(0, 90);
}

function realFiles(): readonly string[] {
  const own = readdirSync(join(root, "config"))
    .filter((name) => name.endsWith(".toml"))
    .map((name) => join(root, "config", name));
  const vectors =
    vectorsDirectory === undefined
      ? []
      : readdirSync(vectorPath("besu-core", "cli"))
          .filter((name) => name.endsWith(".toml"))
          .map((name) => vectorPath("besu-core", "cli", name));
  return [...own, ...vectors].map((path) => readFileSync(path, "utf8"));
}

const TOKENS = [
  ..."=[]{}\"'#.,-_ \n\t\\".split(""),
  ...["[[", "]]", '"""', "'''", "\r\n", "\ufeff", "\u0000", "true", "false", "nan", "-inf", "[table]", "a.b"],
  ...[
    "0",
    "-1",
    "1_000",
    "0x10",
    "1e3",
    "1.5",
    "9223372036854775808",
    "1979-05-27",
    "07:32:00",
    "[1, [2]]",
    "{ a = 1 }",
  ],
  ...[
    "data-path",
    "rpc-http-port",
    "rpc-http-api",
    "__proto__",
    "constructor",
    "sync-mode",
    "host-allowlist",
    "*",
  ],
];

/** Options with their defaults and with values of other options, in TOML's kinds of values. */
function configText(): fc.Arbitrary<string> {
  const names = OPTION_NAMES.filter(
    (name) => optionNamed(name).isOutsideFiles !== true && !NEVER_SET.includes(name),
  );
  const line = fc
    .constantFrom(...names)
    .chain((name) =>
      fc
        .tuple(
          fc.constantFrom(...spellingsOf(name)),
          valueFor(name),
          fc.constantFrom("", "", "", " # why", "\n# more"),
          fc.constantFrom("=", " = "),
        )
        .map(([key, value, comment, sign]) => `${key}${sign}${value}${comment}`),
    );
  const genesis = fc
    .constantFrom("dev", "dev", "mainnet", "testnet")
    .map((name) => `genesis-file = "genesis/${name}.json"`);
  const stray = fc.constantFrom("[Group]", "[a.b]", "# nothing", "rpc-http-prot = 8545", 'unknown = "x"', "");
  return fc
    .tuple(
      fc.option(genesis, { freq: 20 }),
      fc.uniqueArray(line, { maxLength: 6, selector: (text) => text.split("=")[0]?.trim() }),
      fc.option(stray, { freq: 4 }),
      fc.nat(6),
    )
    .map(([first, lines, strayLine, at]) => {
      const all = [...(first === null ? [] : [first]), ...lines];
      if (strayLine !== null) all.splice(at % (all.length + 1), 0, strayLine);
      return `${all.join("\n")}\n`;
    });
}

/** Each makes any file invalid. */
const NEVER_SET: readonly OptionName[] = ["network", "genesis-file", "config-file"];

function valueFor(name: OptionName): fc.Arbitrary<string> {
  const { type, default: byDefault } = optionNamed(name);
  const usual = byDefault === undefined ? undefined : type.show(byDefault);
  const isBare = usual !== undefined && /^(true|false|\d+(\.\d+)?)$/.test(usual);
  const own =
    usual === undefined
      ? []
      : [
          isBare ? usual : JSON.stringify(usual),
          JSON.stringify(usual),
          ...(type.arity === "list" ? [JSON.stringify(usual.split(","))] : []),
        ];
  const anything = fc.constantFrom(
    "true",
    "false",
    "1",
    "100",
    "65536",
    "-1",
    "0.5",
    '""',
    '"*"',
    '"ETH,NET"',
    '["ETH", "WEB3"]',
    '"127.0.0.1"',
    '"0x"',
    '"INFO"',
    '"FULL"',
    "[]",
    "[1, true]",
    "1979-05-27",
    "{}",
    "{ a = 1 }",
    '"line\\nline"',
    "99999999999999999999",
    '"9223372036854775808"',
    "nan",
    '"\\u0000"',
  );
  return own.length === 0
    ? fc.oneof(anything, fc.constantFrom('"x"', '"0x0000000000000000000000000000000000000001"', '"10"', "10"))
    : fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...own) }, { weight: 1, arbitrary: anything });
}
