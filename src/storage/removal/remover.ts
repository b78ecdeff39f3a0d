import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { DatabaseOnDisk } from "../database.ts";
import type { HistoryStart } from "../historyStart.ts";

/** What to keep, and in which database. */
export interface RemoverSettings {
  /** Folder of the chain's database, which this thread has open. */
  readonly path: string;
  /** Number of blocks below the head that are kept whole, or whose states are kept; undefined for all. */
  readonly kept: bigint | undefined;
}

/** The dependencies of a removal of old blocks or states; `Keep` moves the start of the chain. */
export interface RemoverParts<Keep> {
  readonly database: DatabaseOnDisk;
  readonly chain: Keep & {
    readonly head: { readonly header: { readonly number: bigint } };
    readonly historyStart: HistoryStart;
    onHeadChanged(row: "removal", listener: () => void): () => void;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent where metrics are off. */
  readonly metrics?: Metrics | undefined;
}
