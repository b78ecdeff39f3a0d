import type { Log } from "../types/log.ts";
import type { MessageResult } from "./evm.ts";

/** What came of a transaction that was good enough to be executed. */
export interface TransactionResult {
  readonly outcome: MessageResult["outcome"];
  /** What the sender paid for: after refunds, and not below the floor for its data. */
  readonly gasUsed: bigint;
  /** The same without refunds: the gas limit that gas estimation tries first. */
  readonly gasBeforeRefund: bigint;
  /** Returned or reverted with; the new code for a creation. */
  readonly output: Uint8Array;
  readonly logs: readonly Log[];
}
