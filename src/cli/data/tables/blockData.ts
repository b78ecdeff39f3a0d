import type { JsonObject } from "../answers.ts";

/** The data of one block from which tables are made, as the node answered. */
export interface BlockData {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly chainId: number;
  readonly block: JsonObject;
  readonly transactions: readonly JsonObject[];
  /** One receipt for each transaction; empty if no table needs receipts. */
  readonly receipts: readonly JsonObject[];
  /** Traces as trace_block lists them; empty if no table needs traces. */
  readonly traces: readonly JsonObject[];
}

/** What a table needs in addition to blocks and transactions. */
export type Need = "receipts" | "traces";
