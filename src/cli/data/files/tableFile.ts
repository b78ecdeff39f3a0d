import type { ColumnName } from "../tables/table.ts";
import type { Compression } from "./compression.ts";

/** A file of a table that is being written. */
export interface TableFile {
  /** The values of one row, in the order of the columns. Throws BadAnswer where one is not of its column's kind. */
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

export type FileFormat = "parquet" | "csv" | "json";

/** Creates files of one format. Loads the writer of Parquet where it is needed. */
export async function tableFilesOf(format: FileFormat): Promise<(request: TableFileRequest) => TableFile> {
  if (format === "parquet") {
    const { createParquetFile } = await import("./parquetFile.ts");
    return createParquetFile;
  }
  const { createTextFile } = await import("./textFile.ts");
  return (request) => createTextFile(format, request);
}

/** The end of a file's name. Parquet is compressed within the file. */
export function endingOf(format: FileFormat, compression: Compression): string {
  if (format === "parquet" || compression === "none") return format;
  return `${format}.${compression === "gzip" ? "gz" : "zst"}`;
}
