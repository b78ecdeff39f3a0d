import { EventLoopPacer, type Pacer } from "../../../primitives/pacer.ts";
import { aborted, Refusal } from "../graphQlError.ts";
import type { GraphQlContext, RestartedPacer } from "../request.ts";

/**
 * Bounds what the answer to one request takes: the thread's time, a slice after the other, and the memory of its text. It also
 * ends the work when nobody waits for it any more.
 */
export class Budget implements Pacer {
  private readonly pacer: RestartedPacer;
  private readonly isGone: () => boolean;
  private readonly onInFlight: (bytes: number) => void;
  private taken = 0;
  /** What `onInFlight` was last told. */
  private noted = 0;
  private sliceBeganAtMs = performance.now();
  private usedMs = 0;

  constructor(
    isGone: () => boolean,
    {
      pacer = new EventLoopPacer(),
      onInFlight = () => undefined,
    }: Partial<Pick<GraphQlContext, "pacer" | "onInFlight">> = {},
  ) {
    this.pacer = pacer;
    this.onInFlight = onInFlight;
    this.isGone = isGone;
  }

  isDue(): boolean {
    return this.pacer.isDue();
  }

  /** Lets other work run. Throws a Refusal when the caller is gone, or the request has had its time. */
  async yield(): Promise<void> {
    this.usedMs += performance.now() - this.sliceBeganAtMs;
    if (this.usedMs > TIME_LIMIT_MS)
      throw aborted(`The query takes more than ${TIME_LIMIT_MS / 1000} seconds of processing`);
    await this.pacer.yield();
    this.sliceBeganAtMs = performance.now();
    this.checkCaller();
  }

  /** Waits for other threads, whose time has limits of its own. */
  async waitFor<T>(result: Promise<T>): Promise<T> {
    this.usedMs += performance.now() - this.sliceBeganAtMs;
    this.pacer.end?.();
    const value = await result;
    this.pacer.restart();
    this.sliceBeganAtMs = performance.now();
    this.checkCaller();
    return value;
  }

  private checkCaller(): void {
    if (this.isGone()) throw new Refusal(503, [{ message: "The client is gone" }]);
  }

  /** Counts characters of the answer. Throws a Refusal when it is too long. */
  take(characters: number): void {
    this.expect(characters);
    this.taken += characters;
    if (this.taken - this.noted < NOTED_CHARACTERS) return;
    this.noted = this.taken;
    this.onInFlight(this.taken);
  }

  /** Characters that were counted, which take about as many bytes. */
  get takenLength(): number {
    return this.taken;
  }

  /** Throws a Refusal when the answer has no room for so many characters, which are not made yet. */
  expect(characters: number): void {
    if (this.taken + characters > ANSWER_LIMIT)
      throw aborted(`The answer is longer than ${ANSWER_LIMIT / 1024 / 1024} MB. Ask for less at a time.`);
  }
}

/** The limit of eth_getLogs. */
const ANSWER_LIMIT = 64 * 1024 * 1024;
/** An answer is noted as it grows by so much; a shorter one takes little memory. */
const NOTED_CHARACTERS = 256 * 1024;
/** The limit is of the time that its thread works for it, not of the time that it takes. */
const TIME_LIMIT_MS = 10_000;
