import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import type { DatabaseOnDisk } from "../database.ts";
import type { HistoryStart } from "../historyStart.ts";

/** What is removed, and where from. */
export interface RemoverSettings {
  /** Folder of the chain's database, which this thread has open. */
  readonly path: string;
  /** Blocks below the head that are kept whole, or whose states are; undefined for all. */
  readonly kept: bigint | undefined;
}

/** What a removal of old blocks or states stands on; `Keep` is how it has the chain begin later. */
export interface RemoverParts<Keep> {
  readonly database: DatabaseOnDisk;
  readonly chain: Keep & {
    readonly head: { readonly header: { readonly number: bigint } };
    readonly historyStart: HistoryStart;
    onHeadChanged(row: "removal", listener: () => void): () => void;
  };
  readonly clock: Clock;
  readonly logger: Logger;
}
