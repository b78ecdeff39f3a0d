import type { Compression } from "./files/compression.ts";
import { endingOf, type FileFormat } from "./files/fileFormat.ts";
import type { Range } from "./ranges.ts";

type Schema = "cryo" | "ethereum-etl";

export interface Naming {
  readonly schema: Schema;
  readonly format: FileFormat;
  readonly compression: Compression;
  /** The first part of cryo's names. */
  readonly network: string;
}

/** The path of a table's file, relative to the folder of the export, as the schema's own tool names it. */
export function pathOf(table: string, { from, to }: Range, naming: Naming): string {
  const ending = endingOf(naming.format, naming.compression);
  const [first, last] = [padded(from), padded(to)];
  if (naming.schema === "cryo") return `${naming.network}__${table}__${first}_to_${last}.${ending}`;
  return `${table}/start_block=${first}/end_block=${last}/${table}_${first}_${last}.${ending}`;
}

function padded(number: number): string {
  return number.toString().padStart(8, "0");
}
