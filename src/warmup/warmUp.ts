import { expectDefined } from "../primitives/assert.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import type { MadeUpChain } from "./madeUpChain.ts";

/**
 * Runs the node's own hot paths on made-up transactions while it has nothing else to do, so that the first burst finds them
 * compiled:
 *
 *     3 s after the start ──> round ──(pause)──> round ──> ... ──> ended
 *                              ├─ a message to the pool, senders on their threads, pool, block, commit: on a chain in memory
 *                              └─ calls of eth_sendRawTransaction on each thread for callers, which lead nowhere
 *
 * Invariants: no step holds the thread for more than some milliseconds, and between two steps whatever waits comes first; it ends
 * for good with the first real transaction; nothing of it is seen outside, and nothing is kept.
 */
export interface WarmUpParts {
  readonly clock: Clock;
  /**
   * Opens chains that take turns. Code that has met the parts of two of them, where they differ, need not be compiled again for the
   * real one's.
   */
  openChains(): Promise<readonly UsedChain[]>;
  /** Has each thread for callers answer a batch of so many made-up calls. */
  answerCalls(count: number): void;
  /** Whether the node has nothing else to do at the moment. */
  isIdle(): boolean;
  /** Told why it ends early by a fault of its own. */
  onFault(error: unknown): void;
}

type UsedChain = Pick<MadeUpChain, "offer" | "build">;

/** The first seconds belong to the rest of the start. */
export const BEGIN_AFTER_MS = 3000;
/** Pause between two rounds. */
export const PAUSE_MS = 10;
/** Pause until a busy node is looked at again. */
export const BUSY_PAUSE_MS = 250;
/** Transfers of the first rounds: code that is not compiled takes ten times as long, so they are few. */
const FIRST_ROUNDS = [1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 16, 16, 16, 16, 32, 32];
/** Transfers of a round, one or two milliseconds of each step once they are compiled. */
const ROUND = 64;
/** Transfers until the warm-up ends: by then V8 has compiled even those functions of a burst that take longest. */
export const TRANSFERS = 4000;
/** A node that is busy for so long compiles its code by itself. */
export const GIVE_UP_AFTER_MS = 60_000;

export class WarmUp {
  /** Resolves when it has ended, to whether all of it was done. */
  readonly ended: Promise<boolean>;
  readonly #parts: WarmUpParts;
  #end: (isWhole: boolean) => void = () => undefined;
  #timer: Timer | undefined;
  #chains: readonly UsedChain[] | undefined;
  #rounds = 0;
  #transfers = 0;
  #isEnded = false;
  #endAtMs = Number.POSITIVE_INFINITY;

  constructor(parts: WarmUpParts) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  begin(): void {
    this.#endAtMs = this.#parts.clock.nowMs() + GIVE_UP_AFTER_MS;
    this.#continueAfter(BEGIN_AFTER_MS);
  }

  /** Ends it for good: real work has arrived, or the node stops. A round in progress ends by itself, within milliseconds. */
  stop(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#timer?.cancel();
    this.#chains = undefined;
    this.#end(this.#transfers >= TRANSFERS);
  }

  #continueAfter(pauseMs: number): void {
    if (this.#isEnded) return;
    const { clock, onFault } = this.#parts;
    this.#timer = clock.at(clock.nowMs() + pauseMs, () => {
      this.#continue().catch((error: unknown) => {
        // A recovery thread that is closed refuses what comes after the stop.
        if (!this.#isEnded) onFault(error);
        this.stop();
      });
    });
  }

  async #continue(): Promise<void> {
    const { clock, isIdle } = this.#parts;
    if (this.#transfers >= TRANSFERS || clock.nowMs() >= this.#endAtMs) this.stop();
    else if (isIdle()) {
      await this.#round();
      this.#continueAfter(PAUSE_MS);
    } else this.#continueAfter(BUSY_PAUSE_MS);
  }

  async #round(): Promise<void> {
    const { openChains, answerCalls } = this.#parts;
    this.#chains ??= await openChains();
    const chain = expectDefined(this.#chains[this.#rounds % this.#chains.length], "a chain");
    const count = FIRST_ROUNDS[this.#rounds++] ?? ROUND;
    this.#transfers += count;
    answerCalls(count);
    await chain.offer(count);
    if (!this.#isEnded) await chain.build();
  }
}
