import { aborted } from "../graphQlError.ts";

/**
 * Bounds what the check of a query may cost: fragments can make it visit a node again and again. An ordinary query of the largest
 * size that may run takes a few thousand steps.
 */
export class WorkLimit {
  private steps = 0;
  private pausedAt = 0;
  private depth = 0;

  /** Counts a step, or some. Throws a Refusal when there were too many. */
  spend(steps = 1): void {
    this.steps += steps;
    if (this.steps > MOST_STEPS) throw aborted("The query takes too many steps to check");
  }

  /** Whether so much was done since the last pause that another one is due. */
  isStepFull(): boolean {
    if (this.steps - this.pausedAt < STEPS_PER_PAUSE) return false;
    this.pausedAt = this.steps;
    return true;
  }

  /** Goes into a selection set. Throws a Refusal when too many are within one another, by way of fragments. */
  enter(): void {
    this.depth++;
    if (this.depth > MOST_LEVELS) throw aborted(`The query has more than ${MOST_LEVELS} levels`);
  }

  leave(): void {
    this.depth--;
  }
}

/** Some ten milliseconds, once the code is compiled. */
const MOST_STEPS = 60_000;
const STEPS_PER_PAUSE = 512;
/** More than one text can have without fragments (readQuery.ts). */
const MOST_LEVELS = 500;
