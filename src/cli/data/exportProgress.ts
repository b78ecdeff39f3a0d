import type { ProcessIo } from "../processIo.ts";
import type { Range } from "./ranges.ts";
import type { DoneRange } from "./record.ts";

/** Intervals of progress lines: shorter on a terminal than in a log file. */
const TERMINAL_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 5000;

/** Prints the progress of an export. */
export class ExportProgress {
  private readonly io: Pick<ProcessIo, "isTerminal" | "print">;
  private readonly intervalMs: number;
  private readonly startMs = performance.now();
  private last = { atMs: this.startMs, blocks: 0, rows: 0 };
  private total = { blocks: 0, rows: 0 };
  private readonly rowsOf = new Map<string, number>();
  private readonly written = { files: 0, bytes: 0 };

  constructor(io: Pick<ProcessIo, "isTerminal" | "print">) {
    this.io = io;
    this.intervalMs = io.isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
  }

  /** Counts a block that was read, and its rows. */
  advance(number: number, rows: number): void {
    this.total = { blocks: this.total.blocks + 1, rows: this.total.rows + rows };
    const atMs = performance.now();
    if (atMs - this.last.atMs < this.intervalMs) return;
    const perSecond = (now: number, before: number) =>
      Math.round((1000 * (now - before)) / (atMs - this.last.atMs));
    this.io.print(
      `block ${number}: ${perSecond(this.total.blocks, this.last.blocks)} blocks/s, ${perSecond(this.total.rows, this.last.rows)} rows/s\n`,
    );
    this.last = { atMs, ...this.total };
  }

  /** Counts a finished range. */
  finish({ files }: DoneRange): void {
    for (const { table, rows, bytes } of files) {
      this.rowsOf.set(table, (this.rowsOf.get(table) ?? 0) + rows);
      this.written.files++;
      this.written.bytes += bytes;
    }
  }

  /** Text about everything that was written. */
  summary(): string {
    const seconds = ((performance.now() - this.startMs) / 1000).toFixed(1);
    const tables = [...this.rowsOf].map(([table, rows]) => `${rows} ${table}`).join(", ");
    const megabytes = (this.written.bytes / 1e6).toFixed(1);
    if (this.written.files === 0) return "nothing new";
    return `${tables}; ${this.written.files} files, ${megabytes} MB, ${seconds} s`;
  }
}

/** A range as text for people. */
export function rangeText({ from, to }: Range): string {
  return from === to ? `block ${from}` : `blocks ${from} to ${to}`;
}
