import type { ColumnName } from "../tables/table.ts";
import type { Compression } from "./compression.ts";

/** A file of a table that is being written. */
export interface TableFile {
  /** Adds one row, its values in the order of the columns. Throws BadAnswer when a value does not fit its column's kind. */
  add(values: readonly unknown[]): void;
  /** Writes the rest and makes it durable. */
  finish(): { readonly rows: number; readonly bytes: number };
  /** Closes an unfinished file. */
  abandon(): void;
}

export interface TableFileRequest {
  readonly path: string;
  readonly columns: readonly ColumnName[];
  readonly compression: Compression;
}
