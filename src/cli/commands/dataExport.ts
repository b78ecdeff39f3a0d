import { resolve } from "node:path";
import {
  choiceType,
  integerType,
  listType,
  pathType,
  secondsType,
  switchType,
  textType,
} from "../../config/valueTypes.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import type { Table, TableDefinition } from "../data/tables/table.ts";
import { refuse } from "../processIo.ts";
import { defineCommand, type Invocation } from "./command.ts";

const BLOCK_NUMBER = integerType({ label: "<LONG>", max: 2n ** 53n - 1n, kind: "a long" });

const OPTIONS = {
  to: {
    type: { ...pathType, label: "<FOLDER>" },
    isRequired: true,
    help: "Folder of the export: a new one, or that of an earlier export to continue.",
  },
  node: {
    type: textType({ label: "<URL>", accepts: "a URL of JSON-RPC over HTTP" }),
    default: "http://127.0.0.1:8545",
    help: "JSON-RPC URL of the node, which must be running, with ETH in its --rpc-http-api, and TRACE for traces.",
  },
  "start-block": { type: BLOCK_NUMBER, default: "0", help: "The first block." },
  "end-block": {
    type: BLOCK_NUMBER,
    help: "The block to stop before. Default: none, so all blocks to the newest.",
  },
  follow: {
    type: switchType,
    help: "Continue with new blocks until stopped; a file is written when all of its blocks exist.",
  },
  tables: {
    type: listType(textType({ label: "<NAME>", accepts: "the name of a table" }), "<NAME,...>"),
    default: "blocks,transactions,receipts,logs",
    help:
      "What to write: also traces and, derived from logs and traces, erc20_transfers, native_transfers and contracts (cryo) or " +
      "token_transfers (ethereum-etl). Traces execute each block again.",
  },
  schema: {
    type: choiceType(["cryo", "ethereum-etl"]),
    default: "cryo",
    help: "The tool whose column names, file names and types are used.",
  },
  columns: {
    type: choiceType(["default", "all"]),
    default: "default",
    help: "For cryo: its default columns, or all.",
  },
  format: {
    type: choiceType(["parquet", "csv", "json"]),
    default: "parquet",
    help: "Format of the files; json is one object per line.",
  },
  compression: {
    type: choiceType(["none", "snappy", "gzip", "zstd"]),
    help: "snappy (Parquet only), gzip, zstd (from Node.js 22.15 on) or none. Default: snappy for Parquet, none otherwise.",
  },
  "blocks-per-file": {
    type: integerType({ label: "<COUNT>", min: 1n, max: 10_000_000n }),
    default: "1000",
    help: "Number of blocks in one file. Files end before multiples of it.",
  },
  network: {
    type: textType({ label: "<NAME>", accepts: "a name of letters, digits, _ and -" }),
    help: "First part of the file names that cryo uses. Default: network_ and the chain id.",
  },
  "give-up-seconds": {
    type: secondsType,
    default: "300",
    help: "Maximum time that the node may be unreachable; unlimited with --follow.",
  },
} as const;

export const DATA_EXPORT = defineCommand({
  words: "data export",
  help:
    "Write blocks, transactions, receipts, logs and traces of a running node as Parquet, CSV or JSON lines, for DuckDB, Spark, " +
    "ClickHouse or Trino. Run it again to continue after a stop. See docs/data-export.md.",
  options: OPTIONS,
  run: dataExport,
});

interface Values {
  readonly to: string;
  readonly node: string;
  readonly "start-block": number;
  readonly "end-block": number | undefined;
  readonly follow: boolean | undefined;
  readonly tables: readonly string[];
  readonly schema: "cryo" | "ethereum-etl";
  readonly columns: "default" | "all";
  readonly format: "parquet" | "csv" | "json";
  readonly compression: "none" | "snappy" | "gzip" | "zstd" | undefined;
  readonly "blocks-per-file": number;
  readonly network: string | undefined;
  readonly "give-up-seconds": number;
}

async function dataExport({ values, io }: Invocation<Values>): Promise<number> {
  const { schema, columns, format } = values;
  const node = httpUrl(values.node);
  if (node === undefined) return refuse(`Not a URL of HTTP: --node=${values.node}`, io);
  const compression = values.compression ?? (format === "parquet" ? "snappy" : "none");
  const { hasZstd } = await import("../data/files/compression.ts");
  const problem = problemIn({ ...values, compression }, hasZstd());
  if (problem !== undefined) return refuse(problem, io);
  const tables = await chooseTables(values);
  if (!tables.ok) return refuse(tables.error.message, io);
  const { exportData } = await import("../data/exportData.ts");
  return exportData(
    {
      node,
      folder: resolve(io.workingDirectory, values.to),
      startBlock: values["start-block"],
      endBlock: values["end-block"],
      isFollowing: values.follow === true,
      blocksPerFile: values["blocks-per-file"],
      tables: tables.value,
      columns,
      naming: { schema, format, compression, network: values.network },
      giveUpAfterMs: values["give-up-seconds"] * 1000,
    },
    io,
  );
}

function httpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "http:" || url?.protocol === "https:" ? url : undefined;
}

function problemIn(values: Values, hasZstd: boolean): string | undefined {
  const { "start-block": start, "end-block": end, compression, format, network } = values;
  if (end !== undefined && start >= end) return `--start-block=${start} is not below --end-block=${end}.`;
  if (compression === "snappy" && format !== "parquet")
    return `--compression=snappy is for Parquet; --format=${format} takes gzip, zstd or none.`;
  if (compression === "zstd" && !hasZstd)
    return `--compression=zstd needs Node.js 22.15; this is ${process.version}.`;
  if (network !== undefined && !/^[\w-]{1,64}$/.test(network))
    return `--network=${network} is not a name of up to 64 letters, digits, _ and -.`;
  return undefined;
}

/** The tables in the order in which the schema has them. */
async function chooseTables({
  schema,
  tables,
  columns,
}: Values): Promise<Result<readonly Table[], "unknownTable">> {
  const known: readonly TableDefinition[] =
    schema === "cryo"
      ? (await import("../data/tables/cryo.ts")).CRYO_TABLES
      : (await import("../data/tables/ethereumEtl.ts")).ETHEREUM_ETL_TABLES;
  const unknown = tables.find((name) => known.every((table) => table.name !== name));
  if (unknown === undefined && tables.length > 0)
    return ok(known.filter(({ name }) => tables.includes(name)).map((table) => table.choose(columns)));
  const names = known.map(({ name }) => name).join(", ");
  const message =
    unknown === undefined
      ? `--tables is empty. The tables of ${schema} are ${names}.`
      : `${schema} has no table ${unknown}. Its tables are ${names}.`;
  return fail("caller", "unknownTable", message);
}
