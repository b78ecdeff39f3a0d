import { Progress, type ProgressOutput } from "../../observability/progress.ts";
import type { Range } from "./ranges.ts";
import type { DoneRange } from "./record.ts";

/** Shows the progress of an export. */
export class ExportProgress {
  private readonly blocks: Range | undefined;
  private readonly progress: Progress;
  private readonly rowsOf = new Map<string, number>();
  private readonly written = { files: 0, bytes: 0 };

  /** `blocks` are those to be exported; undefined for an export without end. */
  constructor(output: ProgressOutput, blocks: Range | undefined) {
    this.blocks = blocks;
    const total = blocks === undefined ? undefined : blocks.to - blocks.from + 1;
    this.progress = new Progress({ message: "exporting", total }, output);
  }

  /** Counts a block that was read, and its rows. */
  advance(number: number, rows: number): void {
    this.progress.advance({
      ...(this.blocks !== undefined && { position: number - this.blocks.from + 1 }),
      counts: { blocks: 1, rows },
    });
  }

  end(): void {
    this.progress.end();
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
    const seconds = this.progress.seconds.toFixed(1);
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
