import { readFileSync } from "node:fs";
import type { Contender } from "../../contenders.ts";

const MEMORY_PERIOD_MS = 50;

/** What a node took while it was watched. */
export interface NodeFigures {
  /** Largest memory of its own, and with mapped files, MB. */
  readonly ownMb: number;
  readonly residentMb: number;
  /** Share of the time in which its main thread waited for a core: what other work on the machine took from it. */
  readonly waitedShare: number;
}

export class NodeWatch {
  private readonly pid: number;
  private readonly beganMs = performance.now();
  private readonly waitedMsBefore: number;
  private readonly timer: NodeJS.Timeout;
  private ownMb = 0;
  private residentMb = 0;

  constructor({ pid }: Contender) {
    if (pid === undefined) throw new Error("the node has no process");
    this.pid = pid;
    this.waitedMsBefore = this.waitedMs();
    this.timer = setInterval(() => this.look(), MEMORY_PERIOD_MS);
  }

  end(): NodeFigures {
    clearInterval(this.timer);
    const { ownMb, residentMb } = this;
    const waitedMs = this.waitedMs() - this.waitedMsBefore;
    return { ownMb, residentMb, waitedShare: waitedMs / (performance.now() - this.beganMs) };
  }

  private look(): void {
    const status = this.read("status");
    const mb = (name: string): number =>
      Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
    this.ownMb = Math.max(this.ownMb, mb("RssAnon"));
    this.residentMb = Math.max(this.residentMb, mb("VmRSS"));
  }

  private waitedMs(): number {
    return Number(this.read(`task/${this.pid}/schedstat`).split(" ")[1] ?? 0) / 1e6;
  }

  /** Empty for a process that has ended. */
  private read(file: string): string {
    try {
      return readFileSync(`/proc/${this.pid}/${file}`, "latin1");
    } catch {
      return "";
    }
  }
}
