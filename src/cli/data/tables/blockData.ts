import type { JsonObject } from "../answers.ts";

/** What the tables of a block are made of, as the node answered. All of it is of one block. */
export interface BlockData {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly chainId: number;
  readonly block: JsonObject;
  readonly transactions: readonly JsonObject[];
  /** One for each transaction; empty where no table needs them. */
  readonly receipts: readonly JsonObject[];
  /** As trace_block lists them; empty where no table needs them. */
  readonly traces: readonly JsonObject[];
}

/** What a table needs beside blocks and transactions. */
export type Need = "receipts" | "traces";
