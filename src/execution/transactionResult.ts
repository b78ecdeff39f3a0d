import type { Log } from "../types/log.ts";
import type { Effects } from "./effectCost.ts";
import type { MessageResult } from "./evm.ts";

/** Result of an executed transaction. */
export interface TransactionResult {
  readonly outcome: MessageResult["outcome"];
  /** Gas that the sender pays for: after refunds, and at least the floor for its data. */
  readonly gasUsed: bigint;
  /** Gas before refunds: the gas limit that gas estimation tries first. */
  readonly gasBeforeRefund: bigint;
  /** The data of RETURN or REVERT; the new code for a creation. */
  readonly output: Uint8Array;
  readonly logs: readonly Log[];
  readonly effects: Effects;
}
