import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { replaceFile } from "../../storage/durableFile.ts";
import type { Range } from "./ranges.ts";

/** What an export contains, and how it is written; fixed at its beginning. */
export interface ExportSettings {
  readonly format: 1;
  readonly chainId: number;
  readonly genesisHash: string;
  readonly schema: string;
  readonly tables: readonly string[];
  readonly columns: string;
  readonly fileFormat: string;
  readonly compression: string;
  readonly network: string;
}

/** A range of blocks whose files are complete. */
export interface DoneRange extends Range {
  readonly lastHash: string;
  readonly files: readonly DoneFile[];
}

export interface DoneFile {
  /** Path relative to the folder of the export. */
  readonly path: string;
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * The record of an export: JSON lines, the settings and then each finished range. A line that a kill left unfinished does
 * not count. Throws errors of the file system, and DiskError.
 */
export class ExportRecord {
  readonly #path: string;
  readonly #settings: ExportSettings;
  #ranges: DoneRange[];

  private constructor(path: string, settings: ExportSettings, ranges: readonly DoneRange[]) {
    this.#path = path;
    this.#settings = settings;
    this.#ranges = [...ranges];
  }

  /** Reads the record, or creates it. The error names the setting in which an older export differs. */
  static open(path: string, settings: ExportSettings): Result<ExportRecord, "otherExport" | "badRecord"> {
    if (!existsSync(path)) {
      const record = new ExportRecord(path, settings, []);
      record.#rewrite();
      return ok(record);
    }
    const text = readFileSync(path, "utf8");
    const [first = "", ...lines] = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    try {
      const difference = differenceOf(JSON.parse(first) as ExportSettings, settings);
      if (difference !== undefined) return fail("caller", "otherExport", difference);
      const ranges = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as DoneRange);
      const record = new ExportRecord(path, settings, ranges);
      if (!text.endsWith("\n")) record.#rewrite();
      return ok(record);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const message = `The record ${path} is damaged. Delete the folder of the export, and start over.`;
      return fail("local", "badRecord", message);
    }
  }

  get ranges(): readonly DoneRange[] {
    return this.#ranges;
  }

  /** Adds a range, durably. */
  add(range: DoneRange): void {
    const file = openSync(this.#path, "a");
    try {
      writeFileSync(file, `${JSON.stringify(range)}\n`, { flush: true });
    } finally {
      closeSync(file);
    }
    this.#ranges.push(range);
  }

  /** Removes ranges, durably. */
  remove(ranges: readonly DoneRange[]): void {
    if (ranges.length === 0) return;
    this.#ranges = this.#ranges.filter((range) => !ranges.includes(range));
    this.#rewrite();
  }

  #rewrite(): void {
    const lines = [this.#settings, ...this.#ranges].map((line) => `${JSON.stringify(line)}\n`);
    replaceFile(this.#path, lines.join(""), 0o644);
  }
}

const NAMES = {
  chainId: "chain id",
  genesisHash: "genesis block",
  schema: "--schema",
  tables: "--tables",
  columns: "--columns",
  fileFormat: "--format",
  compression: "--compression",
  network: "--network",
} as const;

function differenceOf(old: ExportSettings, settings: ExportSettings): string | undefined {
  for (const [name, label] of Object.entries(NAMES) as [keyof typeof NAMES, string][]) {
    const [before, now] = [String(old[name]), String(settings[name])];
    if (before !== now)
      return `The folder holds an export with ${label} ${before}, not ${now}. Choose another folder, or use the earlier value.`;
  }
  return undefined;
}
