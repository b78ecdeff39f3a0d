import { COUNTED_PAIRS, WRONG_LOGINS, WRONG_LOGINS_MS } from "./limits.ts";

/** Counts the wrong log-ins of each host under each name, so that nobody can try passwords for long. */
export interface WrongLogins {
  areTooMany(remoteHost: string, name: string): boolean;
  wrong(remoteHost: string, name: string): void;
  right(remoteHost: string, name: string): void;
}

/** `nowMs` never goes back. */
export function createWrongLogins(nowMs: () => number): WrongLogins {
  const counted = new Map<string, { count: number; readonly sinceMs: number }>();
  const keyOf = (remoteHost: string, name: string): string => `${remoteHost} ${name}`;

  function current(key: string): { count: number } | undefined {
    const found = counted.get(key);
    if (found === undefined || nowMs() - found.sinceMs < WRONG_LOGINS_MS) return found;
    counted.delete(key);
    return undefined;
  }

  return {
    areTooMany: (remoteHost, name) => (current(keyOf(remoteHost, name))?.count ?? 0) >= WRONG_LOGINS,
    wrong(remoteHost, name) {
      const key = keyOf(remoteHost, name);
      const found = current(key);
      if (found !== undefined) {
        found.count++;
        return;
      }
      for (const oldest of counted.keys()) {
        if (counted.size < COUNTED_PAIRS) break;
        counted.delete(oldest);
      }
      counted.set(key, { count: 1, sinceMs: nowMs() });
    },
    right: (remoteHost, name) => void counted.delete(keyOf(remoteHost, name)),
  };
}
