import { COUNTED_PAIRS, WRONG_LOGINS, WRONG_LOGINS_MS } from "./limits.ts";

/** Counts the wrong log-ins of each host under each name, so that nobody can try passwords for long. */
export class WrongLogins {
  private readonly nowMs: () => number;
  private readonly counted = new Map<string, { count: number; readonly sinceMs: number }>();

  /** `nowMs` never goes back. */
  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  areTooMany(remoteHost: string, name: string): boolean {
    return (this.current(this.keyOf(remoteHost, name))?.count ?? 0) >= WRONG_LOGINS;
  }

  wrong(remoteHost: string, name: string): void {
    const key = this.keyOf(remoteHost, name);
    const found = this.current(key);
    if (found !== undefined) {
      found.count++;
      return;
    }
    for (const oldest of this.counted.keys()) {
      if (this.counted.size < COUNTED_PAIRS) break;
      this.counted.delete(oldest);
    }
    this.counted.set(key, { count: 1, sinceMs: this.nowMs() });
  }

  right(remoteHost: string, name: string): void {
    this.counted.delete(this.keyOf(remoteHost, name));
  }

  private keyOf(remoteHost: string, name: string): string {
    return `${remoteHost} ${name}`;
  }

  private current(key: string): { count: number } | undefined {
    const found = this.counted.get(key);
    if (found === undefined || this.nowMs() - found.sinceMs < WRONG_LOGINS_MS) return found;
    this.counted.delete(key);
    return undefined;
  }
}
