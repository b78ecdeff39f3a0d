import { inSteps } from "../primitives/steps.ts";
import {
  BLOOM_BYTES,
  bloomOfLogs,
  bloomOfLogsInSteps,
  EMPTY_BLOOM,
  mergeBloom,
  STEP_LOGS,
} from "../types/bloom.ts";
import type { Receipt } from "../types/receipt.ts";
import type { TransactionType } from "../types/transaction.ts";
import { type Effects, loadOf } from "./effectCost.ts";
import type { TransactionResult } from "./transactionResult.ts";
import type { YieldPolicy } from "./yieldPolicy.ts";

export interface ReceiptSettings {
  /** Keeps the output of reverted transactions (--revert-reason-enabled), up to LONGEST_REASON each and REASONS_BYTES in all. */
  readonly keepsRevertReasons?: boolean;
  /**
   * State root after each transaction, for receipts before Byzantium; only chains of public test suites are that old.
   */
  readonly intermediateRoot?: () => Uint8Array;
}

/** The receipts of a block in progress, with the totals for its header. */
export class BlockReceipts {
  readonly receipts: Receipt[] = [];
  gasUsed = 0n;
  /** Time to finish the block, in usual transactions (effectCost.ts). */
  load = 0;
  private readonly settings: ReceiptSettings;
  private bloom = EMPTY_BLOOM;
  private effectBytes = 0;
  private changes = 0;
  /** Bytes of revert reasons kept. */
  private reasonBytes = 0;

  constructor(settings: ReceiptSettings) {
    this.settings = settings;
  }

  /** The effects of all transactions. */
  get effects(): Effects {
    return { bytes: this.effectBytes, changes: this.changes };
  }

  get logsBloom(): Uint8Array {
    return this.bloom;
  }

  /** Adds the next transaction's receipt; asynchronous only with many logs. Throws OutOfTime as YieldPolicy does. */
  add(type: TransactionType, result: TransactionResult, yieldPolicy: YieldPolicy): Promise<void> | undefined {
    const { logs } = result;
    if (logs.length > STEP_LOGS) return this.addInSteps(type, result, yieldPolicy);
    this.append(type, result, logs.length === 0 ? EMPTY_BLOOM : bloomOfLogs(logs));
    return undefined;
  }

  /** The caller awaits this before it adds another receipt, because receipts keep the order of transactions. */
  private async addInSteps(
    type: TransactionType,
    result: TransactionResult,
    yieldPolicy: YieldPolicy,
  ): Promise<void> {
    this.append(type, result, await inSteps(bloomOfLogsInSteps(result.logs), yieldPolicy));
  }

  private append(
    type: TransactionType,
    { outcome, gasUsed, logs, effects, output }: TransactionResult,
    logsBloom: Uint8Array,
  ): void {
    this.gasUsed += gasUsed;
    this.effectBytes += effects.bytes;
    this.changes += effects.changes;
    this.load += loadOf(effects);
    if (logs.length > 0) this.addBloom(logsBloom);
    const root = this.settings.intermediateRoot?.();
    this.receipts.push({
      type,
      outcome: root !== undefined ? { stateRoot: root } : outcome.kind === "succeeded" ? SUCCESS : FAILURE,
      cumulativeGasUsed: this.gasUsed,
      gasUsed,
      logsBloom,
      logs,
      ...(outcome.kind === "reverted" && this.keepsReason(output) && { revertReason: output }),
    });
  }

  /** Whether a revert reason is kept. Reasons cost no gas of their own, so a block could have hundreds of megabytes of them. */
  private keepsReason({ length }: Uint8Array): boolean {
    if (this.settings.keepsRevertReasons !== true) return false;
    if (length > LONGEST_REASON || this.reasonBytes + length > REASONS_BYTES) return false;
    this.reasonBytes += length;
    return true;
  }

  private addBloom(bloom: Uint8Array): void {
    if (this.bloom === EMPTY_BLOOM) this.bloom = new Uint8Array(BLOOM_BYTES);
    mergeBloom(this.bloom, bloom);
  }
}

/** Longest revert reason that a receipt keeps, and the most that all of a block have. */
const LONGEST_REASON = 16 * 1024;
const REASONS_BYTES = 1024 * 1024;

const SUCCESS = { status: 1 } as const;
const FAILURE = { status: 0 } as const;
