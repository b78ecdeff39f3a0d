import type { JsonObject } from "../answers.ts";

/** What the tables of a block are made of, as the node answered. All of it is of one block. */
export interface BlockData {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly chainId: number;
  readonly block: JsonObject;
  readonly transactions: readonly JsonObject[];
  /** One receipt for each transaction; empty where no table needs receipts. */
  readonly receipts: readonly JsonObject[];
  /** Traces as trace_block lists them; empty where no table needs traces. */
  readonly traces: readonly JsonObject[];
}

/** What a table needs beside blocks and transactions. */
export type Need = "receipts" | "traces";
