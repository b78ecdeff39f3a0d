import type { Clock } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";
import type { Delays } from "./delays.ts";

/** Shortest pause between searches that no change leads to. */
export const SEARCH_MS = 30_000;
/** Longest pause between searches that find nothing new; until then, each pause is twice as long as the one before. */
const QUIET_SEARCH_MS = 5 * 60_000;
/** Pause between searches while no more connections are needed. */
const IDLE_SEARCH_MS = 30 * 60_000;
/** Time until the search after a change: other nodes may be changing at the same moment. */
const CHANGE_MS = 1000;
/** Shortest time between the beginnings of two searches. */
const SHORTEST_SEARCH_MS = 3000;

interface SearchScheduleParts {
  readonly clock: Pick<Clock, "nowMs">;
  readonly delays: Pick<Delays, "wait">;
  /** Whether the node needs more connections. */
  readonly wantsPeers: () => boolean;
  /** Searches at once, if a search is due. */
  readonly search: () => void;
}

/** The time at which a search was asked for, and the pause that was due before it then. */
interface AskedSearch {
  readonly atMs: number;
  readonly pauseMs: number;
}

/** What a search came to. */
interface SearchOutcome {
  readonly isAnswered: boolean;
  /** Whether the search has found or lost nodes, or there are none. */
  readonly hasChanged: boolean;
}

/**
 * Decides when to search for nodes: every half a minute while that finds new ones, and ever less often while it does not. After
 * a search that got no answer, from anyone or from a bootnode, the next one follows soon after such a node has pinged this one.
 */
export class SearchSchedule {
  private readonly parts: SearchScheduleParts;
  private lastMs = Number.NEGATIVE_INFINITY;
  private pauseMs = SEARCH_MS;
  private isSearching = false;
  /** Bootnodes that did not answer the last search, by id. */
  private readonly silent = new Set<string>();
  /** Whether nobody has answered the last search. */
  private isUnanswered = false;
  /** Whether a search waits for its time, after a change. */
  private isAwaited = false;

  constructor(parts: SearchScheduleParts) {
    this.parts = parts;
  }

  /** Must be called when a search is asked for; `begin` tells whether it is due. */
  ask(): AskedSearch {
    const { clock, wantsPeers } = this.parts;
    return { atMs: clock.nowMs(), pauseMs: wantsPeers() ? this.pauseMs : IDLE_SEARCH_MS };
  }

  /** Begins a search, unless another one is running or was too short a time ago; returns whether it begins. */
  begin({ atMs, pauseMs }: AskedSearch): boolean {
    if (this.isSearching || atMs < this.lastMs + pauseMs) return false;
    this.lastMs = atMs;
    this.isSearching = true;
    this.silent.clear();
    return true;
  }

  /** Notes a bootnode that does not answer the search in progress. */
  unanswered(bootnodeId: Uint8Array): void {
    this.silent.add(toHex(bootnodeId));
  }

  /** Ends the search in progress. */
  end({ isAnswered, hasChanged }: SearchOutcome): void {
    this.isSearching = false;
    this.isUnanswered = !isAnswered;
    this.pauseMs = hasChanged ? SEARCH_MS : Math.min(2 * this.pauseMs, QUIET_SEARCH_MS);
  }

  /** Must be called when a node has pinged this one, and so serves it from now on. */
  pingedBy(nodeId: Uint8Array): void {
    if (this.isUnanswered || this.silent.has(toHex(nodeId))) this.searchSoon();
  }

  /** Searches again soon after a change; further changes until then lead to no other search. */
  searchSoon(): void {
    const { clock, delays, wantsPeers } = this.parts;
    if (this.isAwaited || !wantsPeers()) return;
    this.isAwaited = true;
    this.isUnanswered = false;
    this.silent.clear();
    const waitMs = Math.max(CHANGE_MS, this.lastMs + SHORTEST_SEARCH_MS - clock.nowMs());
    void delays.wait(waitMs).then(() => {
      this.isAwaited = false;
      this.pauseMs = SEARCH_MS;
      if (this.isSearching) this.searchSoon();
      else this.searchNow();
    });
  }

  /** Searches at once, however short a time ago the last search was. */
  searchNow(): void {
    this.lastMs = Number.NEGATIVE_INFINITY;
    this.parts.search();
  }
}
