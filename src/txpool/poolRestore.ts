import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { RecoverSigners } from "../chain/signerRecovery.ts";
import type { Logger } from "../observability/logger.ts";
import { type SentTransaction, withSender } from "../types/transaction.ts";
import { recoveryItemOf } from "../types/transactionSignature.ts";
import { askPermissions } from "./contractPermissions.ts";
import { type DumpedTransaction, decodeDumpLine, inOfferOrder } from "./poolDump.ts";
import type { AskContract } from "./ports.ts";
import type { TxPool } from "./txPool.ts";

interface RestoreParts {
  readonly pool: Pick<TxPool, "add">;
  readonly recoverSigners: RecoverSigners;
  /** Absent where no contract decides who may send. */
  readonly askContract?: AskContract | undefined;
  readonly logger: Logger;
  /** Path of the file, for the log. */
  readonly path: string;
  /** True once the node stops: nothing more is offered. */
  readonly isStopping: () => boolean;
}

const LINES_PER_BATCH = 500;
const OFFERS_PER_SLICE = 200;
const DAMAGED_LINES_NAMED = 5;

/**
 * Offers the transactions of a saved pool's lines to the pool; returns the lines that were not offered because the node
 * stops. Damaged lines are logged and lost.
 */
export async function offerLines(lines: readonly string[], parts: RestoreParts): Promise<readonly string[]> {
  const { logger, path: file, isStopping } = parts;
  const all = await loadLines(lines, parts);
  if (all === undefined) return lines;
  for (const error of all.damaged.slice(0, DAMAGED_LINES_NAMED)) {
    logger.warn({ file }, `a saved transaction is skipped: ${error}`);
  }
  const ordered = inOfferOrder(all.loaded);
  const { offered, refused } = await offerInOrder(ordered, parts);
  const added = offered - Object.values(refused).reduce((sum, count) => sum + count, 0);
  logger.info(
    { file, added, damaged: all.damaged.length, ...(added < offered && { refused }) },
    `Added ${added} transactions of ${offered} loaded from file ${file}${isStopping() ? ", before operation was cancelled" : ""}`,
  );
  return ordered.slice(offered).map(({ line }) => line);
}

/** Undefined when the node stops before all lines are read. */
async function loadLines(
  lines: readonly string[],
  { recoverSigners, isStopping }: RestoreParts,
): Promise<LoadedLines | undefined> {
  const loaded: LoadedTransaction[] = [];
  const damaged: string[] = [];
  for (let at = 0; at < lines.length; at += LINES_PER_BATCH) {
    if (isStopping()) return undefined;
    const batch = await decodeLines(lines.slice(at, at + LINES_PER_BATCH), at + 1, recoverSigners);
    loaded.push(...batch.loaded);
    damaged.push(...batch.damaged);
  }
  return { loaded, damaged };
}

interface LoadedLines {
  readonly loaded: readonly LoadedTransaction[];
  /** The defects of the other lines. */
  readonly damaged: readonly string[];
}

interface LoadedTransaction extends Omit<DumpedTransaction, "transaction"> {
  readonly transaction: SentTransaction;
  readonly line: string;
}

/** Counts the offered transactions, and the refused ones by code. */
async function offerInOrder(
  ordered: readonly LoadedTransaction[],
  { pool, askContract, isStopping }: RestoreParts,
): Promise<{ readonly offered: number; readonly refused: Readonly<Record<string, number>> }> {
  const refused: Record<string, number> = {};
  let offered = 0;
  while (offered < ordered.length && !isStopping()) {
    const slice = ordered.slice(offered, offered + OFFERS_PER_SLICE);
    const permissions = askContract && (await askPermissions(askContract, slice));
    if (isStopping()) break;
    for (const [index, { transaction, origin }] of slice.entries()) {
      const result = pool.add(transaction, origin, permissions?.[index]);
      if (!result.ok) refused[result.error.code] = (refused[result.error.code] ?? 0) + 1;
    }
    offered += slice.length;
    await yieldToEventLoop();
  }
  return { offered, refused };
}

async function decodeLines(
  lines: readonly string[],
  firstNumber: number,
  recoverSigners: RecoverSigners,
): Promise<LoadedLines> {
  const damaged: string[] = [];
  const decoded: (DumpedTransaction & { readonly line: string; readonly number: number })[] = [];
  for (const [index, line] of lines.entries()) {
    const number = firstNumber + index;
    const result = decodeDumpLine(line);
    if (result.ok) decoded.push({ ...result.value, line, number });
    else damaged.push(`line ${number}: ${result.error.message}`);
  }
  const senders = await recoverSigners(decoded.map(({ transaction }) => recoveryItemOf(transaction)));
  const loaded: LoadedTransaction[] = [];
  for (const [index, { transaction, origin, line, number }] of decoded.entries()) {
    const sender = senders[index];
    if (sender === undefined) damaged.push(`line ${number}: the signature is invalid`);
    else loaded.push({ transaction: withSender(transaction, sender), origin, line });
  }
  return { loaded, damaged };
}
