import type { Compression } from "./compression.ts";
import type { TableFile, TableFileRequest } from "./tableFile.ts";

export type FileFormat = "parquet" | "csv" | "json";

/** Creates files of one format. Loads the writer of Parquet if needed. */
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
