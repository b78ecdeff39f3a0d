import { parse, TomlDate, TomlError, type TomlTable, type TomlValue } from "smol-toml";
import { nearestNames } from "./nearestNames.ts";
import { findOption, OPTION_NAMES, type OptionName, optionNamed, spellingsOf } from "./options.ts";
import {
  describeSource,
  type RawOption,
  type Source,
  type SourceReading,
  type UnknownOption,
} from "./rawOption.ts";
import { isOfOtherRelease } from "./unknownOptions.ts";

/**
 * Reads options from a TOML file (options.md#toml). A key is an option's name or alias; table names are ignored. A
 * key in two tables is refused unless the values agree: in Besu the order of a hash set decides. Values may be arrays or one
 * text with commas; numbers and booleans may be quoted. `path` names the file in messages.
 */
export function readToml(text: string, path: string): SourceReading {
  let document: TomlTable;
  try {
    document = parse(text.replace(/^\ufeff/, ""), { integersAsBigInt: true });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return onlyProblem(syntaxProblem(error, text, path));
  }
  const entries = flatten(document, false).sort(
    (one, other) => Number(one.isInTable) - Number(other.isInTable),
  );
  if (entries.length === 0) {
    return onlyProblem(`Unable to read TOML configuration file ${path}: nothing is set in it`);
  }
  const sourceOf = (key: string) => ({ kind: "file", path, key, line: lineOf(key, text) }) as const;
  const unknownKeys = entries
    .filter(({ key }) => findOption(key) === undefined && !isOfOtherRelease(key))
    .map(({ key }) => key);
  const problems = unknownKeys.length === 0 ? [] : [unknownProblem(unknownKeys, text, path)];
  const warnings = entries
    .filter(({ key }) => findOption(key) !== undefined && !isOptionForFiles(key))
    .map(({ key }) => `${key} has no effect in a file; it is given ${describeSource(sourceOf(key))}.`);
  const raw: RawOption[] = [];
  for (const name of OPTION_NAMES) {
    // The name has precedence over its aliases; of equals, what is outside of tables has it.
    const assignments = spellingsOf(name).flatMap((spelling) =>
      entries.filter(({ key }) => key === spelling),
    );
    const [first, ...others] = assignments.filter(({ key }) => isOptionForFiles(key));
    if (first === undefined) continue;
    const source = sourceOf(first.key);
    // Besu joins an array for an option with one value too, so that one with one item is that item; not for a switch.
    const mayBeList = optionNamed(name).type.arity !== "switch";
    const value = textOf(first.value, mayBeList);
    if (value.ok) raw.push({ name, text: value.text, source });
    else problems.push(wrongKindProblem(name, value.kind, source));
    const contradicting = others.filter((other) => !isSame(textOf(other.value, mayBeList), value));
    for (const key of new Set(contradicting.map((other) => other.key))) {
      if (key !== first.key)
        warnings.push(
          `${first.key} counts, given ${describeSource(source)}; ${key} says otherwise and is ignored.`,
        );
      else if (first.isInTable)
        problems.push(`${first.key} is given twice in ${path}, in two tables with different values`);
      else
        warnings.push(
          `${first.key} is given twice in ${path}: the value outside of tables counts, the other one is ignored.`,
        );
    }
  }
  const unknown = entries
    .filter(({ key }) => findOption(key) === undefined && isOfOtherRelease(key))
    .map(({ key, value }): UnknownOption => {
      const read = textOf(value, true);
      return { spelling: key, text: read.ok ? read.text : "", source: sourceOf(key) };
    });
  return { raw, unknown, problems, warnings };
}

function isSame(a: Reading, b: Reading): boolean {
  return a.ok && b.ok && a.text === b.text;
}

interface Entry {
  readonly key: string;
  readonly value: TomlValue;
  readonly isInTable: boolean;
}

function flatten(table: TomlTable, isInTable: boolean): Entry[] {
  return Object.entries(table).flatMap(([key, value]) =>
    isTable(value) ? flatten(value, true) : [{ key, value, isInTable }],
  );
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof TomlDate);
}

function isOptionForFiles(key: string): boolean {
  const name = findOption(key);
  return name !== undefined && optionNamed(name).isOutsideFiles !== true;
}

type Reading = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly kind: string };

/** The value in the form of the command line; a list is joined with commas, as in Besu. */
function textOf(value: TomlValue, mayBeList: boolean): Reading {
  if (value instanceof TomlDate) return { ok: false, kind: "a date" };
  if (Array.isArray(value)) {
    if (!mayBeList) return { ok: false, kind: "a list" };
    const items = value.map((item) => textOf(item, false));
    const wrong = items.find((item) => !item.ok);
    return wrong ?? { ok: true, text: items.map((item) => (item.ok ? item.text : "")).join(",") };
  }
  return typeof value === "object" ? { ok: false, kind: "a table" } : { ok: true, text: String(value) };
}

function wrongKindProblem(name: OptionName, kind: string, source: Source): string {
  return `Invalid value for option '--${name}': ${kind} is given ${describeSource(source)}; accepted: ${optionNamed(name).type.accepts}`;
}

function unknownProblem(unknownKeys: readonly string[], text: string, path: string): string {
  const known = OPTION_NAMES.flatMap((name) => spellingsOf(name)).filter(isOptionForFiles);
  const details = unknownKeys.map((key) => {
    const line = lineOf(key, text);
    const near = nearestNames(key, known);
    return `${key}${line === undefined ? "" : ` in line ${line}`}${near.length === 0 ? "" : `: is ${near.join(" or ")} meant?`}`;
  });
  const plural = unknownKeys.length > 1 ? "s" : "";
  return `Unknown option${plural} in TOML configuration file: ${unknownKeys.join(", ")} (${path}; ${details.join("; ")})`;
}

/** Line of the first assignment to a key; undefined when the simple pattern does not find it. */
function lineOf(key: string, text: string): number | undefined {
  const index = text
    .split("\n")
    .findIndex((line) => /^\s*(?:[\w."' -]*\.\s*)?["']?([\w-]+)["']?\s*=/.exec(line)?.[1] === key);
  return index < 0 ? undefined : index + 1;
}

function syntaxProblem(error: TomlError, text: string, path: string): string {
  const reason = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "");
  const hint = quotedForm(text.split("\n")[error.line - 1] ?? "");
  const place = `(line ${error.line}, column ${error.column})`;
  const advice = hint === undefined ? "" : `. Texts need quotes: ${hint}`;
  return `Invalid TOML configuration: ${reason} ${place} in ${path}${advice}`;
}

/** The line with its bare words quoted, if that makes it valid TOML: host-allowlist=[*] is a common mistake. */
function quotedForm(line: string): string | undefined {
  const [, key, value] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
  if (key === undefined || value === undefined) return undefined;
  const quote = (word: string): string =>
    /^(["'].*["']|true|false|[+-]?[\d._]+)$/.test(word) ? word : `"${word}"`;
  const list = /^\[(.*)\]$/.exec(value)?.[1];
  const words = list
    ?.split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  const quoted = `${key}=${words === undefined ? quote(value) : `[${words.map(quote).join(",")}]`}`;
  if (!isToml(quoted) || isToml(line)) return undefined;
  const name = findOption(key);
  return name !== undefined && optionNamed(name).isSecret === true ? `${key}="..."` : quoted;
}

function isToml(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}

function onlyProblem(problem: string): SourceReading {
  return { raw: [], unknown: [], problems: [problem], warnings: [] };
}
