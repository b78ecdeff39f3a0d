import { FairQueue } from "../primitives/fairQueue.ts";
import type { Requester } from "../primitives/requester.ts";
import { TimeDebts } from "../primitives/timeDebts.ts";
import type { SliceClocks } from "../primitives/timeSlice.ts";

/** A search that takes turns with others on one thread. */
export interface TurningSearch {
  readonly requester: Requester;
  /** Whether the search is in the quick lane; those that have used up their first slice are in the slow one. */
  readonly isQuick: boolean;
  /** Time that it has used, milliseconds. */
  usedMs: number;
}

/**
 * Turns of the searches that run on this thread, at most one in each cycle of the event loop. Searches in their first slice
 * get as much of the thread's time as the slow ones, whose steps may take many times as long. In both lanes the remote host,
 * and then the client, that took the least time lately is next (timeDebts.ts). Searches that nobody needs any more come
 * first, whatever their clients used: they end in their turn, and release what they hold.
 *
 *     next ──> quick queue ──┐ by time
 *                            ├──> the search goes on until it asks again, or ends
 *     next ──> slow queue  ──┘
 *
 * No other search has a turn meanwhile, not even while this one waits for the database: it would be charged for their steps,
 * and wait for one of them at each read.
 */
export class SearchTurns {
  private readonly cpuMs: () => number;
  private readonly debts: TimeDebts;
  private readonly quick: FairQueue<Turn>;
  private readonly slow: FairQueue<Turn>;
  /** Time by which the quick lane is ahead of the slow one, milliseconds. */
  private leadMs = 0;
  /** Turns of searches that nobody needs any more. */
  private readonly unwanted: Turn[] = [];
  private isScheduled = false;
  /** The search whose turn it is. */
  private current: TurningSearch | undefined;
  private readonly begunAtMs = new WeakMap<TurningSearch, number>();

  /** `cpuMs` is this thread's CPU time, by which searches are charged. */
  constructor({ nowMs, cpuMs }: SliceClocks) {
    this.cpuMs = cpuMs;
    this.debts = new TimeDebts(nowMs);
    this.quick = new FairQueue(Number.POSITIVE_INFINITY, this.debts);
    this.slow = new FairQueue(Number.POSITIVE_INFINITY, this.debts);
  }

  /** Ends the turn of the search, if it has one, and resolves when its next one begins. */
  next(search: TurningSearch): Promise<void> {
    this.end(search);
    return new Promise((resume) => {
      this.laneOf(search).add({ requester: search.requester, search, resume });
      this.schedule();
    });
  }

  /** Ends the turn of the search, which waits for something else, or is over. */
  end(search: TurningSearch): void {
    const begunAtMs = this.begunAtMs.get(search);
    if (begunAtMs === undefined) return;
    this.begunAtMs.delete(search);
    const tookMs = this.cpuMs() - begunAtMs;
    search.usedMs += tookMs;
    const leadMs = this.leadMs + (search.isQuick ? tookMs : -tookMs);
    this.leadMs = Math.max(-LONGEST_LEAD_MS, Math.min(leadMs, LONGEST_LEAD_MS));
    this.debts.charge(search.requester, tookMs);
    this.quick.served(search.requester);
    this.slow.served(search.requester);
    this.current = undefined;
    this.schedule();
  }

  private laneOf({ isQuick }: TurningSearch): FairQueue<Turn> {
    return isQuick ? this.quick : this.slow;
  }

  private schedule(): void {
    if (this.isScheduled || this.current !== undefined) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      const turn = this.take();
      if (turn === undefined) return;
      this.current = turn.search;
      this.begunAtMs.set(turn.search, this.cpuMs());
      turn.resume();
    });
  }

  private take(): Turn | undefined {
    this.unwanted.push(...this.quick.takeAbandoned(), ...this.slow.takeAbandoned());
    const [first, second] = this.leadMs > 0 ? [this.slow, this.quick] : [this.quick, this.slow];
    return this.unwanted.shift() ?? first.take() ?? second.take();
  }
}

/** Most lead of one lane, from time alone or a long step, that the other makes up for. */
const LONGEST_LEAD_MS = 100;

interface Turn {
  readonly requester: Requester;
  readonly search: TurningSearch;
  resume(): void;
}
