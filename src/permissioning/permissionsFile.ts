import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parse, TomlError, type TomlTable, type TomlValue } from "smol-toml";
import { readNamedFile } from "../primitives/boundedFile.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { syncFolder } from "../primitives/syncFolder.ts";

/*
 * Besu's permissions file: TOML with a list of strings for senders, one for nodes, or both
 * (options.md#permissioning-options).
 */

export type AllowlistKey = "accounts-allowlist" | "nodes-allowlist";

interface ListedTexts {
  readonly texts: readonly string[];
  /** The line of a text's first occurrence, counted from 1. */
  lineOf(text: string): number;
}

/** Maximum size of the file: enough for hundreds of thousands of accounts. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Reads a list from the file. Fails with the defect and its position. */
export function readListedTexts(path: string, key: AllowlistKey): Result<ListedTexts, "unusablePermissions"> {
  let text: string;
  try {
    text = readNamedFile(path, MOST_BYTES);
  } catch (error) {
    return unusable(`Unable to read permissioning TOML config file: ${messageOf(error)}`);
  }
  let table: TomlTable;
  try {
    table = parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    return unusable(
      `Unable to read permissioning TOML config file: Invalid TOML configuration: ${reason} (line ${error.line}, column ${error.column}) in ${path}`,
    );
  }
  const value = table[key] ?? table[formerKey(key)];
  if (value === undefined) return unusable(`${key} config option missing in TOML config file ${path}`);
  if (!isTexts(value)) return unusable(`${key} must be a list of texts in ${path}`);
  return ok({ texts: value, lineOf: (each) => lineOf(each, text) });
}

/**
 * Whether the file has the list as `writeListedTexts` wrote it last. That is found without parsing the list, which takes a tenth of a
 * second for a hundred thousand entries; false for a file that is written in another way, or cannot be read.
 */
export function isListWritten(path: string, key: AllowlistKey, texts: readonly string[]): boolean {
  try {
    return restBeside(readNamedFile(path, MOST_BYTES), key, assignment(key, texts)) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Writes a new list to the file: the old list's lines are removed, all others stay, and the new list follows them in
 * one line, as Besu writes it. The file is replaced atomically wherever the system allows it. Throws when the file
 * cannot be written. `written` is the list that the file is known to have in that form, if any, whose line is then found at once.
 */
export function writeListedTexts(
  path: string,
  key: AllowlistKey,
  texts: readonly string[],
  written?: readonly string[],
): void {
  const line = assignment(key, texts);
  const before = readFileSync(path, "utf8");
  const rest = written && restBeside(before, key, assignment(key, written));
  if (rest !== undefined) {
    replaceFile(path, `${rest}${line}\n`);
    return;
  }
  const kept = `${withoutAssignment(withoutAssignment(before, formerKey(key)), key)}${line}\n`;
  replaceFile(path, contains(kept, key, texts) ? kept : `${otherList(before, key)}${line}\n`);
}

/**
 * The text without this line of it; undefined unless the line is there, and means what it says: the rest has neither tables nor
 * texts of several lines, which it might belong to, nor another value of the key.
 */
function restBeside(text: string, key: AllowlistKey, line: string): string | undefined {
  const at = text.startsWith(`${line}\n`) ? 0 : text.indexOf(`\n${line}\n`) + 1;
  if (at === 0 && !text.startsWith(`${line}\n`)) return undefined;
  const rest = text.slice(0, at) + text.slice(at + line.length + 1);
  if (/"""|'''|^\s*\[/m.test(rest) || (rest !== "" && !rest.endsWith("\n"))) return undefined;
  const table = tomlOf(rest);
  return table === undefined || key in table || formerKey(key) in table ? undefined : rest;
}

function unusable(message: string): Result<never, "unusablePermissions"> {
  return fail("local", "unusablePermissions", message);
}

function isTexts(value: TomlValue): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** The former name, which Besu 24.7 still reads when the current one is missing. */
function formerKey(key: AllowlistKey): string {
  return key.replace("allowlist", "whitelist");
}

function lineOf(text: string, document: string): number {
  return document.slice(0, Math.max(0, document.indexOf(text))).split("\n").length;
}

function assignment(key: AllowlistKey, texts: readonly string[]): string {
  return `${key}=${JSON.stringify(texts)}`;
}

/** The text without the lines of a list; each remaining line ends with a line feed. */
function withoutAssignment(text: string, key: string): string {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const start = lines.findIndex((line) => new RegExp(`^\\s*["']?${key}["']?\\s*=`).test(line));
  if (start >= 0) {
    let end = start + 1;
    while (end < lines.length && tomlOf(lines.slice(start, end).join("\n")) === undefined) end++;
    lines.splice(start, end - start);
  }
  return lines.map((line) => `${line}\n`).join("");
}

/** Only the other list, for files whose text cannot be edited by lines. */
function otherList(text: string, key: AllowlistKey): string {
  const other = key === "accounts-allowlist" ? "nodes-allowlist" : "accounts-allowlist";
  const table = parse(text);
  const value = table[other] ?? table[formerKey(other)];
  return value !== undefined && isTexts(value) ? `${assignment(other, value)}\n` : "";
}

function contains(text: string, key: AllowlistKey, texts: readonly string[]): boolean {
  return JSON.stringify(tomlOf(text)?.[key]) === JSON.stringify(texts);
}

/** Undefined where the text is no TOML. */
function tomlOf(text: string): TomlTable | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function replaceFile(path: string, text: string): void {
  const file = realpathSync(path);
  const temporary = `${file}.new`;
  try {
    writeFileSync(temporary, text, { mode: statSync(file).mode, flush: true });
    renameSync(temporary, file);
    syncFolder(dirname(file));
  } catch (error) {
    rmSync(temporary, { force: true });
    // A file that is a mount of its own, or lies in a read-only folder, can only be written in place.
    if (!IN_PLACE_ONLY.has(codeOf(error))) throw error;
    writeFileSync(file, text, { flush: true });
  }
}

const IN_PLACE_ONLY: ReadonlySet<unknown> = new Set(["EBUSY", "EACCES", "EPERM", "EROFS"]);

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, "code") : undefined;
}
