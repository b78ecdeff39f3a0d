import { BadAnswer, wholeNumberOf } from "../answers.ts";
import { EXPORT_LIMITS } from "../limits.ts";
import type { Kind } from "../tables/column.ts";
import type { ColumnName } from "../tables/table.ts";
import { compressorOf } from "./compression.ts";
import { PartFile } from "./partFile.ts";
import type { TableFile, TableFileRequest } from "./tableFile.ts";

/** Writes a table as CSV (RFC 4180, lines that end with a line feed, nothing for null) or as one JSON object a line. */
export function createTextFile(
  format: "csv" | "json",
  { path, columns, compression }: TableFileRequest,
): TableFile {
  const file = new PartFile(path);
  const compress = compression === "gzip" || compression === "zstd" ? compressorOf(compression) : undefined;
  const lineOf = format === "csv" ? csvLine : jsonLine;
  const waiting: string[] = [];
  let characters = 0;
  let rows = 0;

  function addLine(line: string): void {
    waiting.push(line);
    characters += line.length;
    if (characters >= EXPORT_LIMITS.textPieceBytes) writePiece();
  }

  function writePiece(): void {
    const bytes = Buffer.from(waiting.join(""));
    file.write(compress === undefined ? bytes : compress(bytes));
    waiting.length = 0;
    characters = 0;
  }

  if (format === "csv") addLine(`${columns.map(({ name }) => name).join()}\n`);
  return {
    add(values) {
      addLine(lineOf(columns, values));
      rows++;
    },
    finish() {
      writePiece();
      file.close();
      return { rows, bytes: file.bytes };
    },
    abandon: () => file.abandon(),
  };
}

function csvLine(columns: readonly ColumnName[], values: readonly unknown[]): string {
  return `${columns.map(({ kind }, index) => csvField(kind, values[index])).join()}\n`;
}

function csvField(kind: Kind, value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = kind === "list" ? listOf(value).join() : plainText(kind, value);
  // An empty text is quoted, to distinguish it from a missing value.
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonLine(columns: readonly ColumnName[], values: readonly unknown[]): string {
  const members = columns.map(
    ({ name, kind }, index) => `${JSON.stringify(name)}:${jsonValue(kind, values[index])}`,
  );
  return `{${members.join()}}\n`;
}

function jsonValue(kind: Kind, value: unknown): string {
  if (value === undefined || value === null) return "null";
  if (kind === "list") return JSON.stringify(listOf(value));
  const text = plainText(kind, value);
  return UNQUOTED.has(kind) ? text : JSON.stringify(text);
}

/** Kinds that need no quotes. Digits of an amount are quoted, because readers of JSON round large numbers. */
const UNQUOTED: ReadonlySet<Kind> = new Set(["boolean", "uint32", "uint64", "int64", "float64"]);

function plainText(kind: Kind, value: unknown): string {
  switch (kind) {
    case "uint32":
    case "uint64":
    case "int64":
    case "uint256":
      return wholeNumberOf(value).toString();
    case "float64":
      return Number(wholeNumberOf(value)).toString();
    case "uint256Bytes":
      return `0x${wholeNumberOf(value).toString(16).padStart(64, "0")}`;
    default:
      return String(value);
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new BadAnswer("a list of an answer is not a list");
}
