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
 * Invariants: no step holds the thread for more than some milliseconds, and waiting work comes first between two steps; the
 * first real transaction ends it for good; nothing of it is visible outside, and nothing is kept.
 */
interface WarmUpParts {
  readonly clock: Clock;
  /**
   * Opens chains that are used in turn. Code that has run with the parts of two of them need not be compiled again for the
   * real chain's.
   */
  openChains(): Promise<readonly UsedChain[]>;
  /** Makes each thread for callers answer a batch of `count` made-up calls. */
  answerCalls(count: number): void;
  /** Whether the node has nothing else to do at the moment. */
  isIdle(): boolean;
  /** Called when it ends early by a fault of its own. */
  onFault(error: unknown): void;
}

type UsedChain = Pick<MadeUpChain, "offer" | "build">;

/** Delay, because the first seconds belong to the rest of the start. */
export const BEGIN_AFTER_MS = 3000;
/** Pause between two rounds. */
export const PAUSE_MS = 10;
/** Pause until a busy node is checked again. */
export const BUSY_PAUSE_MS = 250;
/** Numbers of transfers in the first rounds: code that is not compiled takes ten times as long, so they are few. */
const FIRST_ROUNDS = [1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 16, 16, 16, 16, 32, 32];
/** Number of transfers in a later round: one or two milliseconds in each step once the code is compiled. */
const ROUND = 64;
/** Number of transfers until the warm-up ends: by then V8 has compiled even the slowest functions of a burst. */
export const TRANSFERS = 4000;
/** Time after which it gives up: a node that is busy for this long compiles its code anyway. */
export const GIVE_UP_AFTER_MS = 60_000;

export class WarmUp {
  /** Resolves at its end, to whether it was completed. */
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

  /**
   * Ends it for good, because real work has arrived or the node stops. A round in progress ends by itself, within
   * milliseconds.
   */
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
        // A closed recovery thread refuses work after the stop.
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
