import { DuckDBInstance } from "@duckdb/node-api";

export type Row = Readonly<Record<string, unknown>>;

/** The rows that DuckDB answers: an independent reader of the files. Bytes are hexadecimal, numbers beyond 53 bits bigints. */
export async function ask(sql: string): Promise<readonly Row[]> {
  const connection = await (await INSTANCE).connect();
  try {
    const reader = await connection.runAndReadAll(sql);
    return reader
      .getRowObjects()
      .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));
  } finally {
    connection.closeSync();
  }
}

/** The values of the first column. */
export async function askColumn(sql: string): Promise<readonly unknown[]> {
  return (await ask(sql)).map((row) => Object.values(row)[0]);
}

const INSTANCE = DuckDBInstance.create(":memory:");

function plain(value: unknown): unknown {
  if (typeof value === "bigint" && value >= -MOST && value <= MOST) return Number(value);
  if (typeof value === "object" && value !== null && "bytes" in value && value.bytes instanceof Uint8Array)
    return `0x${Buffer.from(value.bytes).toString("hex")}`;
  return value;
}

const MOST = BigInt(Number.MAX_SAFE_INTEGER);
