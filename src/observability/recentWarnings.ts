/** A logged warning or error, kept for later requests for the node's status. */
export interface RecentWarning {
  readonly level: "warn" | "error";
  /** The module that logged it. */
  readonly module: string;
  readonly message: string;
  /** When it was last logged, milliseconds since 1970. */
  readonly atMs: number;
  readonly times: number;
}

const LIMIT = 20;
/** The longest messages of our own are half as long; those that quote a peer or a caller are cut. */
const LONGEST_MESSAGE = 1_000;

/** Remembers the newest warnings. A repeated one moves to the end and displaces no other. */
export class RecentWarnings {
  private readonly nowMs: () => number;
  private readonly warnings = new Map<string, RecentWarning>();

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  note(level: RecentWarning["level"], module: string, text: string): void {
    const message = text.slice(0, LONGEST_MESSAGE);
    const key = `${module} ${message}`;
    const times = (this.warnings.get(key)?.times ?? 0) + 1;
    this.warnings.delete(key);
    this.warnings.set(key, { level, module, message, atMs: this.nowMs(), times });
    const [oldest] = this.warnings.keys();
    if (this.warnings.size > LIMIT && oldest !== undefined) this.warnings.delete(oldest);
  }

  /** The warnings, the latest last. */
  list(): readonly RecentWarning[] {
    return [...this.warnings.values()];
  }
}
