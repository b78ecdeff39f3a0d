import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { clientVersion } from "../../../config/clientVersion.ts";
import { bigintToFixedBytes } from "../../../primitives/quantity.ts";
import { BadAnswer, bytesOf, wholeNumberOf } from "../answers.ts";
import { EXPORT_LIMITS } from "../limits.ts";
import type { Kind } from "../tables/column.ts";
import { type Compression, compressorOf } from "./compression.ts";
import { PartFile } from "./partFile.ts";
import type { TableFile, TableFileRequest } from "./tableFile.ts";

type Cell = Uint8Array | string | number | bigint | boolean | null;
type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

interface KindInParquet {
  /** The type of the column; all columns are optional, as in cryo. */
  readonly type: Omit<SchemaElement, "name">;
  /** The cell of an existing value. */
  cellOf(value: unknown): Cell;
}

const TEXT = { type: "BYTE_ARRAY", converted_type: "UTF8" } as const;

const KINDS: Readonly<Record<Kind, KindInParquet>> = {
  bytes: { type: { type: "BYTE_ARRAY" }, cellOf: bytesOf },
  text: { type: TEXT, cellOf: String },
  list: { type: TEXT, cellOf: joined },
  boolean: { type: { type: "BOOLEAN" }, cellOf: (value) => value === true },
  uint32: {
    type: { type: "INT32", converted_type: "UINT_32" },
    cellOf: (value) => {
      const number = wholeNumberOf(value);
      return number < 2n ** 32n ? Number(number) : null;
    },
  },
  uint64: {
    type: { type: "INT64", converted_type: "UINT_64" },
    cellOf: (value) => below(2n ** 64n, wholeNumberOf(value)),
  },
  int64: { type: { type: "INT64" }, cellOf: (value) => below(2n ** 63n, wholeNumberOf(value)) },
  float64: { type: { type: "DOUBLE" }, cellOf: (value) => Number(wholeNumberOf(value)) },
  uint256: { type: TEXT, cellOf: (value) => wholeNumberOf(value).toString() },
  uint256Bytes: {
    type: { type: "BYTE_ARRAY" },
    cellOf: (value) => bigintToFixedBytes(wholeNumberOf(value), 32),
  },
};

const CODECS = { none: "UNCOMPRESSED", snappy: "SNAPPY", gzip: "GZIP", zstd: "ZSTD" } as const;

/**
 * Writes a table as Parquet. Rows wait until they fill a row group, whose end depends only on the rows, so that the same
 * rows give the same bytes.
 */
export function createParquetFile({ path, columns, compression }: TableFileRequest): TableFile {
  const kinds = columns.map(({ kind }) => KINDS[kind]);
  const cells: Cell[][] = columns.map(() => []);
  const file = new PartFile(path);
  const writer = new FileBytes(file);
  const parquet = new ParquetWriter({
    writer,
    createdBy: clientVersion(),
    codec: CODECS[compression],
    compressors: compressorsOf(compression),
    schema: [
      { name: "root", num_children: columns.length },
      ...columns.map(({ name }, index) => ({
        ...kinds[index]?.type,
        name,
        repetition_type: "OPTIONAL" as const,
      })),
    ],
  });
  let waiting = { rows: 0, bytes: 0 };
  let rows = 0;

  function writeRowGroup(): void {
    const columnData = columns.map(({ name }, index) => ({ name, data: cells[index] ?? [] }));
    // This returns no promise, because our byte writer is synchronous.
    void parquet.write({ columnData, rowGroupSize: Math.max(1, waiting.rows) });
    for (const column of cells) column.length = 0;
    waiting = { rows: 0, bytes: 0 };
  }

  return {
    add(values) {
      for (const [index, column] of cells.entries()) {
        const value = values[index];
        const cell = value === undefined || value === null ? null : (kinds[index]?.cellOf(value) ?? null);
        column.push(cell);
        waiting.bytes += sizeOf(cell);
      }
      waiting.rows++;
      rows++;
      if (waiting.rows >= EXPORT_LIMITS.rowGroupRows || waiting.bytes >= EXPORT_LIMITS.rowGroupBytes)
        writeRowGroup();
    },
    finish() {
      if (waiting.rows > 0) writeRowGroup();
      void parquet.finish();
      file.close();
      return { rows, bytes: file.bytes };
    },
    abandon: () => file.abandon(),
  };
}

/** Receives the writer's bytes: in memory for a row group, then in the file. */
class FileBytes extends ByteWriter {
  private readonly file: PartFile;

  constructor(file: PartFile) {
    super(INITIAL_BYTES);
    this.file = file;
  }

  flush(): void {
    this.file.write(this.getBytes());
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }
}

/** The buffer grows to the size of a row group. */
const INITIAL_BYTES = 1024 * 1024;

function compressorsOf(compression: Compression) {
  if (compression === "gzip") return { GZIP: compressorOf("gzip") };
  return compression === "zstd" ? { ZSTD: compressorOf("zstd") } : {};
}

function below(bound: bigint, number: bigint): bigint | null {
  return number < bound ? number : null;
}

function joined(value: unknown): string {
  if (Array.isArray(value)) return value.join();
  throw new BadAnswer("a list of an answer is not a list");
}

/** Approximate memory of a cell, apart from its slot. */
function sizeOf(cell: Cell): number {
  return typeof cell === "string" || cell instanceof Uint8Array ? 8 + cell.length : 8;
}
