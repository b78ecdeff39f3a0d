/** A warning or an error of the log, for those who ask for the state of the node later. */
export interface RecentWarning {
  readonly level: "warn" | "error";
  /** The module that said it. */
  readonly module: string;
  readonly message: string;
  /** When it was said last, milliseconds since 1970. */
  readonly atMs: number;
  readonly times: number;
}

/** Remembers the newest warnings. A repeated one moves to the end and displaces no other. */
export interface RecentWarnings {
  note(level: RecentWarning["level"], module: string, message: string): void;
  /** The latest last. */
  list(): readonly RecentWarning[];
}

const LIMIT = 20;
/** The longest of our own are half as long; those that quote a peer or a caller are cut. */
const LONGEST_MESSAGE = 1_000;

export function createRecentWarnings(nowMs: () => number): RecentWarnings {
  const warnings = new Map<string, RecentWarning>();
  return {
    note(level, module, text) {
      const message = text.slice(0, LONGEST_MESSAGE);
      const key = `${module} ${message}`;
      const times = (warnings.get(key)?.times ?? 0) + 1;
      warnings.delete(key);
      warnings.set(key, { level, module, message, atMs: nowMs(), times });
      const [oldest] = warnings.keys();
      if (warnings.size > LIMIT && oldest !== undefined) warnings.delete(oldest);
    },
    list: () => [...warnings.values()],
  };
}
