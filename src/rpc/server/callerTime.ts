import { dropOldest } from "../../primitives/boundedCache.ts";
import { EventLoopPacer, type Pacer } from "../../primitives/pacer.ts";

/**
 * Shares a thread's time for answers between remote hosts. A host that has used little lately is served at once. What others ask for
 * waits for its turn: in each cycle of the event loop a few milliseconds of it are worked on, first that of the host that has used
 * least, so that neither many requests nor large answers of one host keep others out.
 *
 *     request, or slice of a large answer ─┬─ its host has used little: at once
 *                                          └─ otherwise: waits ── a cycle of the event loop, the host with least first ──>
 */
export class CallerTime {
  readonly nowMs: () => number;
  /** Time used by each host, in the order of the last use. */
  private readonly used = new Map<string, Use>();
  /**
   * Time of each host that is not in `used` yet, because most requests take too little to move their host in that table for each.
   * A table of its own, so that many hosts that ask for little do not take the places of those that ask for much.
   */
  private readonly owedMs = new Map<string, number>();
  /** Work that waits, by host and in the order of arrival; no list is empty. */
  private readonly waiting = new Map<string, Waiting[]>();
  private isScheduled = false;
  /** The host whose work is being done, if it is counted when it ends. */
  private working: string | undefined;

  constructor(nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
  }

  /** Whether what the host asks for is to be done at once. */
  isFree(remoteHost: string): boolean {
    return this.used.size === 0 || (this.usedMs(remoteHost) < FREE_MS && !this.waiting.has(remoteHost));
  }

  /** Does the work at once, and counts its time. The time of work within work of the same host counts once. */
  now<T>(remoteHost: string, work: () => T): T {
    if (this.working === remoteHost) return work();
    const { working } = this;
    const beganMs = this.nowMs();
    this.working = remoteHost;
    try {
      return work();
    } finally {
      this.working = working;
      this.spend(remoteHost, this.nowMs() - beganMs);
    }
  }

  /** Does the work when it is the host's turn, in another cycle of the event loop. Rejects when the work throws. */
  inTurn<T>(remoteHost: string, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      this.wait(remoteHost, { run, fillsSlice: false });
    });
  }

  /** Resolves when it is the host's turn to go on with work that takes a whole slice of the event loop. */
  turn(remoteHost: string): Promise<void> {
    return new Promise((resolve) => this.wait(remoteHost, { run: resolve, fillsSlice: true }));
  }

  /** Counts time that was spent for the host, however short. */
  spend(remoteHost: string, ms: number): void {
    const sumMs = (this.owedMs.get(remoteHost) ?? 0) + ms;
    if (sumMs < LITTLE_MS) {
      this.owedMs.set(remoteHost, sumMs);
      dropOldest(this.owedMs, HOSTS_LIMIT);
      return;
    }
    this.owedMs.delete(remoteHost);
    const usedMs = this.usedMs(remoteHost) + sumMs;
    this.used.delete(remoteHost);
    this.used.set(remoteHost, { ms: usedMs, atMs: this.nowMs() });
    dropOldest(this.used, HOSTS_LIMIT);
  }

  private usedMs(remoteHost: string): number {
    const use = this.used.get(remoteHost);
    return use === undefined ? 0 : use.ms * 2 ** ((use.atMs - this.nowMs()) / HALF_LIFE_MS);
  }

  private wait(remoteHost: string, work: Waiting): void {
    const works = this.waiting.get(remoteHost);
    if (works === undefined) this.waiting.set(remoteHost, [work]);
    else works.push(work);
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled || this.waiting.size === 0) return;
    this.isScheduled = true;
    setImmediate(() => this.work());
  }

  private work(): void {
    this.isScheduled = false;
    const endMs = this.nowMs() + SLICE_MS;
    do {
      const remoteHost = this.next();
      if (remoteHost === undefined) break;
      const works = this.waiting.get(remoteHost) ?? [];
      const work = works.shift();
      if (works.length === 0) this.waiting.delete(remoteHost);
      if (work === undefined) break;
      this.now(remoteHost, work.run);
      if (work.fillsSlice) break;
    } while (this.nowMs() < endMs);
    this.schedule();
  }

  /** The waiting host that has used least. */
  private next(): string | undefined {
    let [least] = this.waiting.keys();
    if (least === undefined || this.waiting.size === 1) return least;
    let leastMs = this.usedMs(least);
    for (const remoteHost of this.waiting.keys()) {
      const usedMs = this.usedMs(remoteHost);
      if (usedMs >= leastMs) continue;
      least = remoteHost;
      leastMs = usedMs;
    }
    return least;
  }
}

interface Waiting {
  run(): void;
  readonly fillsSlice: boolean;
}

interface Use {
  readonly ms: number;
  readonly atMs: number;
}

/** Time that a host may use before its work waits for its turn; what was used counts half after HALF_LIFE_MS. */
const FREE_MS = 20;
const HALF_LIFE_MS = 500;
/** Time of a host is added up in `owedMs` until it is so much. */
const LITTLE_MS = 0.5;
/** Work that waited is done for so long in one cycle of the event loop, and one step more. */
const SLICE_MS = 4;
/** Hosts in each table. */
const HOSTS_LIMIT = 1024;

/** Long work for a remote host, cut into slices of the event loop that the host has in its turns. */
export class CallerPacer implements Pacer {
  private readonly time: CallerTime;
  private readonly remoteHost: string;
  private readonly pacer: EventLoopPacer;
  /** Time of the slice in which others worked. */
  private waitedMs = 0;

  constructor(time: CallerTime, remoteHost: string) {
    this.time = time;
    this.remoteHost = remoteHost;
    this.pacer = new EventLoopPacer(time.nowMs);
  }

  isDue(): boolean {
    return this.pacer.isDue();
  }

  /** Counts what the slice took, which may be long, and resolves in the next turn of the host. */
  async yield(): Promise<void> {
    this.time.spend(this.remoteHost, Math.max(SLICE_MS, this.pacer.sliceMs - this.waitedMs));
    await this.time.turn(this.remoteHost);
    this.restart();
  }

  /** Waits within the slice. The time does not count. */
  async waitFor<T>(result: Promise<T>): Promise<T> {
    const beganAtMs = this.time.nowMs();
    try {
      return await result;
    } finally {
      this.waitedMs += this.time.nowMs() - beganAtMs;
    }
  }

  /** Counts the slice when the work has ended, or waits for other threads. */
  end(): void {
    this.time.spend(this.remoteHost, this.pacer.sliceMs - this.waitedMs);
    this.restart();
  }

  /** Begins a slice anew, after a wait for other threads. */
  restart(): void {
    this.waitedMs = 0;
    this.pacer.restart();
  }
}
