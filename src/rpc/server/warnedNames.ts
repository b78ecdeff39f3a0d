import { type Clock, durationClock } from "../../primitives/clock.ts";

/** Names that are warned of within FORGOTTEN_AFTER_MS; a caller can send any. */
const WARNED_NAMES = 10;
const FORGOTTEN_AFTER_MS = 3_600_000;

/** Bounds warnings that callers can provoke: of each name once in an hour, and of ten names. */
export class WarnedNames {
  private readonly clock: Clock;
  private readonly warned = new Set<string>();
  private since: number;

  constructor(clock: Clock = durationClock) {
    this.clock = clock;
    this.since = clock.nowMs();
  }

  /** Whether the operator is to be warned of it now. */
  isNew(name: string): boolean {
    if (this.clock.nowMs() - this.since > FORGOTTEN_AFTER_MS) {
      this.warned.clear();
      this.since = this.clock.nowMs();
    }
    if (this.warned.size >= WARNED_NAMES || this.warned.has(name)) return false;
    this.warned.add(name);
    return true;
  }
}
