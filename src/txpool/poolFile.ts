import { existsSync } from "node:fs";
import { type FileHandle, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import { syncFolder } from "../primitives/syncFolder.ts";
import { type SentTransaction, withSender } from "../types/transaction.ts";
import { type DumpedTransaction, decodeDumpLine, encodeDumpLine, inOfferOrder } from "./poolDump.ts";
import type { RecoverSenders } from "./ports.ts";
import type { TxPool } from "./txPool.ts";

/**
 * Keeps the pool over a restart (--tx-pool-enable-save-restore), with Besu's file format and log lines:
 *
 *     restore: file -> lines -> senders (on worker threads) -> full admission in batches -> the file is deleted
 *     save:    pool and unprocessed lines -> file.new -> synced -> renamed
 *
 * Errors of the file never prevent a start or stop. As with Besu, the pool is lost when the node does not stop cleanly,
 * because the file does not exist while the node runs.
 */
export interface PoolFile {
  /** Starts to restore in the background. */
  restore(): void;
  /** Stops a restore in progress, and saves; does nothing unless restore() was called. */
  save(): Promise<void>;
}

export interface PoolFileParts {
  readonly pool: Pick<TxPool, "add" | "entries">;
  readonly recoverSenders: RecoverSenders;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
}

/** Bounds the memory, because the file is read at once; no pool is that large. */
const FILE_LIMIT_BYTES = 512 * 1024 * 1024;
const LINES_PER_BATCH = 500;
const OFFERS_PER_SLICE = 200;
const DAMAGED_LINES_NAMED = 5;
/** A save that takes longer keeps only the transactions written by then. */
const SAVE_TIME_MS = 5_000;

export function createPoolFile(path: string, parts: PoolFileParts): PoolFile {
  const { pool, clock, logger } = parts;
  let restoring: Promise<readonly string[]> | undefined;
  let isStopping = false;
  const temporaryPath = `${path}.new`;

  /** Returns the lines that were not offered to the pool. */
  async function restore(): Promise<readonly string[]> {
    try {
      const lines = await readLines(path);
      if (lines === undefined) return [];
      logger.info({ file: path }, `Loading transaction pool content from file ${path}`);
      const unoffered = await offerLines(lines);
      if (!isStopping) await rm(path, { force: true });
      return unoffered;
    } catch (error) {
      logger.error({ error, file: path }, `the transaction pool could not be restored from ${path}`);
      return [];
    }
  }

  async function offerLines(lines: readonly string[]): Promise<readonly string[]> {
    const loaded: Loaded[] = [];
    const damaged: string[] = [];
    for (let at = 0; at < lines.length; at += LINES_PER_BATCH) {
      if (isStopping) return lines;
      const batch = await decodeLines(lines.slice(at, at + LINES_PER_BATCH), at + 1, parts.recoverSenders);
      loaded.push(...batch.loaded);
      damaged.push(...batch.damaged);
    }
    for (const error of damaged.slice(0, DAMAGED_LINES_NAMED)) {
      logger.warn({ file: path }, `a saved transaction is skipped: ${error}`);
    }
    const ordered = inOfferOrder(loaded);
    const refused: Record<string, number> = {};
    let offered = 0;
    for (; offered < ordered.length && !isStopping; offered++) {
      const item = ordered[offered] as Loaded; // below the length
      const result = pool.add(item.transaction, item.origin);
      if (!result.ok) refused[result.error.code] = (refused[result.error.code] ?? 0) + 1;
      if ((offered + 1) % OFFERS_PER_SLICE === 0) await yieldToEventLoop();
    }
    const added = offered - Object.values(refused).reduce((sum, count) => sum + count, 0);
    logger.info(
      { file: path, added, damaged: damaged.length, ...(added < offered && { refused }) },
      `Added ${added} transactions of ${offered} loaded from file ${path}${isStopping ? ", before operation was cancelled" : ""}`,
    );
    return ordered.slice(offered).map(({ line }) => line);
  }

  async function write(lines: readonly string[]): Promise<number> {
    const deadlineMs = clock.nowMs() + SAVE_TIME_MS;
    const handle = await open(temporaryPath, "w", 0o600);
    let written = 0;
    try {
      while (written < lines.length && clock.nowMs() <= deadlineMs) {
        const batch = lines.slice(written, written + LINES_PER_BATCH);
        await writeAll(handle, `${batch.join("\n")}\n`);
        written += batch.length;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporaryPath, path);
    syncFolder(dirname(path));
    return written;
  }

  return {
    restore() {
      restoring ??= restore();
    },
    async save() {
      if (restoring === undefined) return;
      isStopping = true;
      const unoffered = await restoring;
      try {
        const lines = [...inOfferOrder([...pool.entries()]).map(encodeDumpLine), ...unoffered];
        const saved = await write(lines);
        const message = `Saved ${saved} transactions to file ${path}`;
        if (saved === lines.length) logger.info({ file: path, transactions: saved }, message);
        else logger.warn({ file: path, left: lines.length - saved }, `${message}, before the time was up`);
      } catch (error) {
        logger.error({ error, file: path }, `the transaction pool could not be saved to ${path}`);
        await rm(temporaryPath, { force: true }).catch(() => undefined);
      }
    },
  };
}

interface Loaded extends Omit<DumpedTransaction, "transaction"> {
  readonly transaction: SentTransaction;
  readonly line: string;
}

/** Undefined when there is no file. */
async function readLines(path: string): Promise<readonly string[] | undefined> {
  if (!existsSync(path)) return undefined;
  const { size } = await stat(path);
  if (size > FILE_LIMIT_BYTES) throw new RangeError(`it has ${size} bytes, more than ${FILE_LIMIT_BYTES}`);
  const lines = (await readFile(path, "latin1")).split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

async function decodeLines(
  lines: readonly string[],
  firstNumber: number,
  recoverSenders: RecoverSenders,
): Promise<{ readonly loaded: readonly Loaded[]; readonly damaged: readonly string[] }> {
  const damaged: string[] = [];
  const decoded: (DumpedTransaction & { readonly line: string; readonly number: number })[] = [];
  for (const [index, line] of lines.entries()) {
    const number = firstNumber + index;
    const result = decodeDumpLine(line);
    if (result.ok) decoded.push({ ...result.value, line, number });
    else damaged.push(`line ${number}: ${result.error.message}`);
  }
  const senders = await recoverSenders(decoded.map(({ transaction }) => transaction));
  const loaded: Loaded[] = [];
  for (const [index, { transaction, origin, line, number }] of decoded.entries()) {
    const sender = senders[index];
    if (sender === undefined) damaged.push(`line ${number}: the signature is invalid`);
    else loaded.push({ transaction: withSender(transaction, sender), origin, line });
  }
  return { loaded, damaged };
}

/** Repeats partial writes until everything is written. */
async function writeAll(handle: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text, "latin1");
  for (let from = 0; from < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, from);
    from += bytesWritten;
  }
}
