import { existsSync } from "node:fs";
import { type FileHandle, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { RecoverSigners } from "../chain/signerRecovery.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import { syncFolder } from "../primitives/syncFolder.ts";
import { encodeDumpLine, inOfferOrder } from "./poolDump.ts";
import { offerLines } from "./poolRestore.ts";
import type { AskContract } from "./ports.ts";
import type { TxPool } from "./txPool.ts";

export interface PoolFileParts {
  readonly pool: Pick<TxPool, "add" | "entries">;
  readonly recoverSigners: RecoverSigners;
  /** Absent where no contract decides who may send. */
  readonly askContract?: AskContract | undefined;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
}

/** Bounds the memory, because the file is read at once; no pool is that large. */
const FILE_LIMIT_BYTES = 512 * 1024 * 1024;
/** A save that takes longer keeps only the transactions written by then. */
const SAVE_TIME_MS = 5_000;
const LINES_PER_WRITE = 500;

/**
 * Keeps the pool across a restart (--tx-pool-enable-save-restore), with Besu's file format and log lines:
 *
 *     restore: file -> lines -> senders (on worker threads) -> full admission in batches -> the file is deleted
 *     save:    pool and unprocessed lines -> file.new -> synced -> renamed
 *
 * Errors of the file never prevent a start or stop. As with Besu, the pool is lost when the node does not stop cleanly,
 * because the file does not exist while the node runs.
 */
export class PoolFile {
  private readonly path: string;
  private readonly parts: PoolFileParts;
  private restoring: Promise<readonly string[]> | undefined;
  private isStopping = false;

  constructor(path: string, parts: PoolFileParts) {
    this.path = path;
    this.parts = parts;
  }

  /** Starts restoring in the background. */
  restore(): void {
    this.restoring ??= this.offer();
  }

  /** Stops a restore in progress, and saves; does nothing unless restore() was called. */
  async save(): Promise<void> {
    const { path, restoring } = this;
    const { pool, clock, logger } = this.parts;
    if (restoring === undefined) return;
    this.isStopping = true;
    const unoffered = await restoring;
    try {
      const lines = [...inOfferOrder([...pool.entries()]).map(encodeDumpLine), ...unoffered];
      const saved = await writeLines(path, lines, clock);
      const message = `Saved ${saved} transactions to file ${path}`;
      if (saved === lines.length) logger.info({ file: path, transactions: saved }, message);
      else logger.warn({ file: path, left: lines.length - saved }, `${message}, before the time was up`);
    } catch (error) {
      logger.error({ error, file: path }, `the transaction pool could not be saved to ${path}`);
      await rm(temporaryPathOf(path), { force: true }).catch(() => undefined);
    }
  }

  /** Returns the lines that were not offered to the pool. */
  private async offer(): Promise<readonly string[]> {
    const { path, parts } = this;
    const { logger } = parts;
    try {
      const lines = await readLines(path);
      if (lines === undefined) return [];
      logger.info({ file: path }, `Loading transaction pool content from file ${path}`);
      const unoffered = await offerLines(lines, { ...parts, path, isStopping: () => this.isStopping });
      if (!this.isStopping) await rm(path, { force: true });
      return unoffered;
    } catch (error) {
      logger.error({ error, file: path }, `the transaction pool could not be restored from ${path}`);
      return [];
    }
  }
}

/** Undefined when there is no file. */
async function readLines(path: string): Promise<readonly string[] | undefined> {
  if (!existsSync(path)) return undefined;
  const { size } = await stat(path);
  if (size > FILE_LIMIT_BYTES) throw new RangeError(`it has ${size} bytes, more than ${FILE_LIMIT_BYTES}`);
  const lines = (await readFile(path, "latin1")).split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** Replaces the file once everything is written and synced; returns how many lines were written in time. */
async function writeLines(
  path: string,
  lines: readonly string[],
  clock: Pick<Clock, "nowMs">,
): Promise<number> {
  const deadlineMs = clock.nowMs() + SAVE_TIME_MS;
  const handle = await open(temporaryPathOf(path), "w", 0o600);
  let written = 0;
  try {
    while (written < lines.length && clock.nowMs() <= deadlineMs) {
      const batch = lines.slice(written, written + LINES_PER_WRITE);
      await writeAll(handle, `${batch.join("\n")}\n`);
      written += batch.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporaryPathOf(path), path);
  syncFolder(dirname(path));
  return written;
}

function temporaryPathOf(path: string): string {
  return `${path}.new`;
}

/** Repeats partial writes until everything is written. */
async function writeAll(handle: FileHandle, text: string): Promise<void> {
  const bytes = Buffer.from(text, "latin1");
  for (let from = 0; from < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, from);
    from += bytesWritten;
  }
}
