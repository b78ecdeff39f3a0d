import { FairQueue } from "../primitives/fairQueue.ts";
import type { Requester } from "../primitives/requester.ts";
import { TimeDebts } from "../primitives/timeDebts.ts";
import type { SliceClocks } from "../primitives/timeSlice.ts";

/** A search that takes turns with others on one thread. */
export interface TurningSearch {
  readonly requester: Requester;
  /** Its lane: those that have used up their first slice are slow. */
  readonly isQuick: boolean;
  /** Time that it has had, milliseconds. */
  usedMs: number;
}

/**
 * Turns of the searches that run on this thread, one in each cycle of the event loop. Those in their first slice and the slow ones
 * alternate; in both lanes that remote host, and then that client, is next which took little time lately (timeDebts.ts).
 *
 *     next ──> quick queue ──┐ in turn
 *                            ├──> the search goes on until it asks again, or ends
 *     next ──> slow queue  ──┘
 */
export class SearchTurns {
  private readonly cpuMs: () => number;
  private readonly debts: TimeDebts;
  private readonly quick: FairQueue<Turn>;
  private readonly slow: FairQueue<Turn>;
  private wasQuick = false;
  private isScheduled = false;
  private readonly begunAtMs = new WeakMap<TurningSearch, number>();

  /** `cpuMs` is the time that this thread had a processor, by which searches are charged. */
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

  /** Ends the turn of the search: it waits for something else, or is over. */
  end(search: TurningSearch): void {
    const begunAtMs = this.begunAtMs.get(search);
    if (begunAtMs === undefined) return;
    this.begunAtMs.delete(search);
    const tookMs = this.cpuMs() - begunAtMs;
    search.usedMs += tookMs;
    this.debts.charge(search.requester, tookMs);
    this.quick.served(search.requester);
    this.slow.served(search.requester);
  }

  private laneOf({ isQuick }: TurningSearch): FairQueue<Turn> {
    return isQuick ? this.quick : this.slow;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      const [first, second] = this.wasQuick ? [this.slow, this.quick] : [this.quick, this.slow];
      const turn = first.take() ?? second.take();
      if (turn === undefined) return;
      this.wasQuick = turn.search.isQuick;
      this.begunAtMs.set(turn.search, this.cpuMs());
      turn.resume();
      this.schedule();
    });
  }
}

interface Turn {
  readonly requester: Requester;
  readonly search: TurningSearch;
  resume(): void;
}
