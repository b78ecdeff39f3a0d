import { expect, it } from "vitest";
import { findOption, optionNamed } from "../../src/config/options.ts";
import { isOfOtherRelease } from "../../src/config/unknownOptions.ts";
import { describeWithSheet } from "../vectors.ts";

interface Row {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly letter: string | undefined;
  readonly default: string;
  readonly needed: string;
}

/** Intentional differences from Besu's defaults, with the reason. */
const OTHER_DEFAULTS: Readonly<Record<string, string>> = {
  "data-path": "a folder of its own beside Besu's",
  network: "without a genesis file there is no public network to fall back on",
  "network-id": "the chain id, in words",
  "rpc-max-logs-range":
    "1000: the interface document of the networks wins (architecture.md#whose-answer-is-right)",
  "data-storage-format": "FOREST: every state is kept",
  "sync-mode": "FULL always",
  "Xplugin-rocksdb-cache-capacity": "our database's own measure",
  "block-txs-selection-max-time": "refused on proof-of-authority networks",
  "tx-pool-price-bump": "10, or 0 where gas is free",
  "tx-pool-max-size": "the limits of both kinds of pool hold",
  "tx-pool-layer-max-capacity": "the limits of both kinds of pool hold",
  "tx-pool-max-prioritized": "the limits of both kinds of pool hold",
};

describeWithSheet("the options of the fact sheet", "operations.md", (sheet) => {
  const rows = readRows(sheet);

  it("have the expected number", () => {
    expect(rows.length).toBeGreaterThanOrEqual(250);
  });

  it.each(rows)("--$name ($needed) is in the table", ({ name, aliases, letter }) => {
    expect(findOption(name)).toBe(name);
    for (const alias of aliases) expect([alias, findOption(alias)]).toEqual([alias, name]);
    if (letter !== undefined) expect(optionNamed(name as never).letter).toBe(letter);
  });

  it.each(rows.filter(({ name, default: text }) => !(name in OTHER_DEFAULTS) && isValue(text)))(
    "--$name has the default $default",
    ({ name, default: text }) => {
      const { type, default: value } = optionNamed(name as never);
      const expected = type.read(plain(text));
      expect(expected).toMatchObject({ ok: true });
      expect(expected.ok && value).toEqual(expected.ok && expected.value);
    },
  );

  it("differs from the sheet's defaults exactly where listed", () => {
    const same = rows.filter(({ name, default: text }) => {
      const { type, default: value } = optionNamed(name as never);
      const read = type.read(plain(text));
      return name in OTHER_DEFAULTS && read.ok && read.value === value;
    });
    expect(same.map(({ name }) => name)).toEqual([]);
  });

  it.each(rows.filter(({ needed }) => needed.startsWith("accept")))(
    "--$name, which is only accepted, gives a warning",
    ({ name }) => {
      const { noEffect, refusedWhenOn } = optionNamed(name as never);
      const isHonoured = HONOURED.includes(name);
      expect(noEffect !== undefined || refusedWhenOn !== undefined).toBe(!isHonoured);
    },
  );

  it("includes the names of other releases", () => {
    const known = otherReleaseNames(sheet);
    expect(known.length).toBeGreaterThan(50);
    expect(known.filter((name) => findOption(name) === undefined && !isOfOtherRelease(name))).toEqual([]);
  });
});

/** Options that the sheet only requires to be accepted, but that are supported here. */
const HONOURED = [
  "ethstats-cacert-file",
  "rpc-http-tls-cipher-suite",
  "security-module",
  "Xmetrics-idle-timeout",
  "discovery-dns-url",
  "Xp2p-dns-discovery-server",
  "Xnat-method-fallback-enabled",
  "permissions-nodes-contract-enabled",
  "permissions-nodes-contract-address",
  "permissions-nodes-contract-version",
  "permissions-accounts-contract-enabled",
  "permissions-accounts-contract-address",
];

function readRows(sheet: string): readonly Row[] {
  const section = sheet.slice(sheet.indexOf("## 5. Every option"), sheet.indexOf("## 6. "));
  return (
    section
      .split("\n")
      .filter((line) => line.startsWith("| --"))
      .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
      .map((cells): Row => {
        const names = cells[1] ?? "";
        const [name = "", ...aliases] = [...names.matchAll(/--([\w-]+)/g)].map((match) => match[1] ?? "");
        const letter = / -(\w)\b/.exec(names)?.[1];
        return { name, aliases, letter, default: cells[3] ?? "", needed: cells.at(-2) ?? "" };
      })
      // The old name of host-allowlist has a row of its own.
      .map((row) =>
        row.name === "host-whitelist"
          ? { ...row, name: "host-allowlist", aliases: [row.name], needed: "must" }
          : row,
      )
  );
}

/** Excludes prose and system-dependent defaults from the comparison. */
function isValue(text: string): boolean {
  return (
    /^(true|false|-?[\d.]+|10 MB|10\^18|[A-Z]+\d*|-10\.\.30|[\w.:/]+)( \(.*\))?$/.test(text) &&
    !/^(none|empty|flag|auto|library|max|system|runtime|chainId)/.test(text) &&
    !text.includes("<")
  );
}

function plain(text: string): string {
  return text
    .replace(/ \(.*\)$/, "")
    .replace("10 MB", `${10 * 1024 * 1024}`)
    .replace("10^18", `${10n ** 18n}`);
}

/** Names in the first two families of the table at the end of section 5.11, without stars and notes. */
function otherReleaseNames(sheet: string): readonly string[] {
  const rows = sheet.split("\n").filter((line) => /^\| (added|removed) (after|before)/.test(line));
  const unknown = rows.filter((row) => !row.startsWith("| removed after"));
  return unknown.flatMap((row) =>
    (row.split("|")[2] ?? "")
      .replace(/\([^)]*\)/g, "")
      .split(/,| and /)
      .map((name) => name.trim().replace("*", "x"))
      .filter((name) => /^[\w-]+$/.test(name)),
  );
}
