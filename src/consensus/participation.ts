import type { Logger } from "../observability/logger.ts";
import type { Clock } from "../primitives/clock.ts";
import { listenFirst } from "./listening.ts";
import type { PauseReasons } from "./pauseReasons.ts";

/** What fetches the blocks that this node lacks. */
export interface SyncedBlocks {
  readonly isInSync: boolean;
  /** Whether the chain has the blocks again that this node has lost. */
  readonly isRestored: boolean;
  /** Whether the node has, or could not get, the blocks that a peer had when it connected. */
  readonly comparison: { readonly isMade: boolean };
}

interface ParticipationParts {
  readonly sync: SyncedBlocks;
  readonly pauseReasons: PauseReasons;
  readonly engine: Parameters<typeof listenFirst>[0]["engine"];
  readonly schedule: Parameters<typeof listenFirst>[0]["schedule"];
  /** This node's key is not its validator's. */
  readonly hasOtherNodeKey: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Holds this validator back while blocks or news of its key come first: it neither proposes nor votes before blocks that it has lost
 * are back (ibft2.md#a-lost-end), while peers are believed to be ahead (architecture.md#rulings), and before it has listened for
 * another node with its key (listening.ts).
 */
export class Participation {
  private readonly parts: ParticipationParts;

  /** Begins to hold the validator back. */
  constructor(parts: ParticipationParts) {
    this.parts = parts;
    const { sync, pauseReasons } = parts;
    if (!sync.isRestored) pauseReasons.pause("lostEnd");
    listenFirst({ ...parts, hold: pauseReasons, isLevel: () => sync.comparison.isMade }, parts.clock);
  }

  /** Must be called when sync may have fallen behind, or caught up. */
  syncChanged(): void {
    const { sync, pauseReasons } = this.parts;
    if (sync.isInSync) pauseReasons.resume("catchingUp");
    else pauseReasons.pause("catchingUp");
  }

  /** Must be called at each new head, before the engine gets messages for the next height. */
  headChanged(): void {
    this.syncChanged();
    const { sync, pauseReasons } = this.parts;
    if (sync.isRestored) pauseReasons.resume("lostEnd");
  }
}
