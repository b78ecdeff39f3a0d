import type { ProcessIo } from "../processIo.ts";
import type { Range } from "./ranges.ts";
import type { DoneRange } from "./record.ts";

/** Tells how far an export is. */
export interface ExportProgress {
  /** A block was read, which gave so many rows. */
  advance(number: number, rows: number): void;
  /** A range was finished. */
  finish(range: DoneRange): void;
  /** What was written in all. */
  summary(): string;
}

/** More often on a terminal than in a log file. */
const TERMINAL_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 5000;

export function createExportProgress(io: Pick<ProcessIo, "isTerminal" | "print">): ExportProgress {
  const intervalMs = io.isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
  const startMs = performance.now();
  let last = { atMs: startMs, blocks: 0, rows: 0 };
  let total = { blocks: 0, rows: 0 };
  const rowsOf = new Map<string, number>();
  const written = { files: 0, bytes: 0 };
  return {
    advance(number, rows) {
      total = { blocks: total.blocks + 1, rows: total.rows + rows };
      const atMs = performance.now();
      if (atMs - last.atMs < intervalMs) return;
      const perSecond = (now: number, before: number) =>
        Math.round((1000 * (now - before)) / (atMs - last.atMs));
      io.print(
        `block ${number}: ${perSecond(total.blocks, last.blocks)} blocks/s, ${perSecond(total.rows, last.rows)} rows/s\n`,
      );
      last = { atMs, ...total };
    },
    finish({ files }) {
      for (const { table, rows, bytes } of files) {
        rowsOf.set(table, (rowsOf.get(table) ?? 0) + rows);
        written.files++;
        written.bytes += bytes;
      }
    },
    summary() {
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      const tables = [...rowsOf].map(([table, rows]) => `${rows} ${table}`).join(", ");
      const megabytes = (written.bytes / 1e6).toFixed(1);
      if (written.files === 0) return "nothing new";
      return `${tables}; ${written.files} files, ${megabytes} MB, ${seconds} s`;
    },
  };
}

/** For people. */
export function rangeText({ from, to }: Range): string {
  return from === to ? `block ${from}` : `blocks ${from} to ${to}`;
}
