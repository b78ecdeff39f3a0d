import { Progress, type ProgressOutput } from "../observability/progress.ts";

/** The progress of work in several steps, each of which is printed when it begins. */
export class CheckProgress {
  private readonly output: ProgressOutput & { printLine(line: string): void };
  private readonly nowMs: (() => number) | undefined;
  private step:
    | { readonly progress: Progress; readonly total: number; readonly unit: string | undefined }
    | undefined;
  private done = 0;

  constructor(output: ProgressOutput & { printLine(line: string): void }, nowMs?: () => number) {
    this.output = output;
    this.nowMs = nowMs;
  }

  /** Begins a step; `total` is its amount, whose rate is shown if it has a unit. */
  begin(name: string, total: number, unit?: string): void {
    this.end();
    this.output.printLine(name);
    this.done = 0;
    this.step = { progress: new Progress({ message: "", total }, this.output, this.nowMs), total, unit };
  }

  /** Notes that more of the total is done; `counted` is what the rate counts of it, where that has another unit. */
  advance(more: number, counted = more): void {
    const { step } = this;
    if (step === undefined || step.total === 0) return;
    this.done += more;
    step.progress.advance({
      // Totals are sizes on disk, which may be slightly less than the bytes read.
      position: Math.min(this.done, MOST_SHOWN * step.total),
      ...(step.unit !== undefined && { counts: { [step.unit]: counted } }),
    });
  }

  end(): void {
    this.step?.progress.end();
    this.step = undefined;
  }
}

const MOST_SHOWN = 0.99;
