import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";

export interface HostNamesParts {
  /** The name of an IP address by the system's resolver; undefined where there is none, or the resolver fails. */
  readonly nameOf: (ip: string) => Promise<string | undefined>;
  readonly clock: Pick<Clock, "nowMs">;
  /** Called when a name that was awaited is there, and differs from the one before. */
  readonly onChanged: () => void;
}

interface Known {
  /** Undefined where the address has no name. */
  readonly name: string | undefined;
  readonly untilMs: number;
}

/** How long a name counts, and that there is none: a resolver that fails for a moment must not shut a node out for good. */
const FOUND_MS = 30_000;
const MISSING_MS = 10_000;
/** Most names that are kept. Anyone who sends datagrams can raise a question about an address. */
const NAMES_LIMIT = 1024;
/** Most look-ups at a time: each holds a thread of Node.js until the resolver answers. */
const LOOK_UPS_LIMIT = 8;

/** The names of IP addresses, which are looked up again after a while; until a look-up ends, the name before it holds. */
export class HostNames {
  private readonly parts: HostNamesParts;
  private readonly known = new Map<string, Known>();
  private readonly awaited = new Set<string>();

  constructor(parts: HostNamesParts) {
    this.parts = parts;
  }

  /** What is known of the address's name; undefined while that is looked up for the first time. */
  of(ip: string): Pick<Known, "name"> | undefined {
    const known = this.known.get(ip);
    if (known === undefined || known.untilMs <= this.parts.clock.nowMs()) this.lookUp(ip);
    return known;
  }

  private lookUp(ip: string): void {
    const { awaited, parts } = this;
    if (awaited.has(ip) || awaited.size >= LOOK_UPS_LIMIT) return;
    awaited.add(ip);
    void parts
      .nameOf(ip)
      .catch(() => undefined)
      .then((found) => {
        awaited.delete(ip);
        // The resolver gives the address itself where it has no name.
        if (this.keep(ip, found === ip ? undefined : found)) parts.onChanged();
      });
  }

  /** Keeps the name; returns whether it is new. */
  private keep(ip: string, name: string | undefined): boolean {
    const before = this.known.get(ip);
    const untilMs = this.parts.clock.nowMs() + (name === undefined ? MISSING_MS : FOUND_MS);
    this.known.delete(ip);
    this.known.set(ip, { name, untilMs });
    dropOldest(this.known, NAMES_LIMIT);
    return before === undefined || before.name !== name;
  }
}
