import type { Clock } from "../../primitives/clock.ts";
import { PIECE_BYTES, SLOW_PEER_MS } from "../limits.ts";

/** Progress of a transfer: it is stalled when less than one piece was transferred in SLOW_PEER_MS. */
export interface Progress {
  /** Has no effect after the first call. */
  begin(): void;
  advance(bytes: number): void;
  end(): void;
  /** Undefined when no transfer is in progress. */
  readonly sinceMs: number | undefined;
  readonly isStalled: boolean;
}

export function createProgress(clock: Pick<Clock, "nowMs">): Progress {
  let sinceMs: number | undefined;
  /** When the last piece was complete. */
  let markMs = 0;
  let bytesSinceMark = 0;

  function mark(): void {
    markMs = clock.nowMs();
    bytesSinceMark = 0;
  }

  return {
    begin() {
      if (sinceMs !== undefined) return;
      mark();
      sinceMs = markMs;
    },
    advance(bytes) {
      bytesSinceMark += bytes;
      if (bytesSinceMark >= PIECE_BYTES) mark();
    },
    end() {
      sinceMs = undefined;
    },
    get sinceMs() {
      return sinceMs;
    },
    get isStalled() {
      return sinceMs !== undefined && clock.nowMs() - markMs >= SLOW_PEER_MS;
    },
  };
}
