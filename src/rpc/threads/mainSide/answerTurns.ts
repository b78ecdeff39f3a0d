import { FairQueue } from "../../../primitives/fairQueue.ts";
import type { Requester } from "../../../primitives/requester.ts";
import { TimeDebts } from "../../../primitives/timeDebts.ts";

/**
 * Makes the very large answers of a thread's callers one at a time, however many ask: each is tens of megabytes until it is handed
 * over. The remote host, and then the connection, is next which took little time lately. Nothing is made for callers who are gone.
 */
export class AnswerTurns {
  private readonly nowMs: () => number;
  private readonly whenRoom: () => Promise<void>;
  private readonly debts: TimeDebts;
  /** Bounded by the requests that all threads may have before the main thread. */
  private readonly waiting: FairQueue<Turn>;
  private isWorking = false;

  /** `whenRoom` resolves when the thread has room for more. */
  constructor(whenRoom: () => Promise<void>, nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
    this.whenRoom = whenRoom;
    this.debts = new TimeDebts(nowMs);
    this.waiting = new FairQueue(Number.POSITIVE_INFINITY, this.debts);
  }

  /** Resolves to the answer, or to undefined when the caller is gone before its turn; rejects when `make` does. */
  make<Answer>(requester: Requester, make: () => Answer | Promise<Answer>): Promise<Answer | undefined> {
    return new Promise((resolve, reject) => {
      const run = async (): Promise<void> => {
        try {
          resolve(requester.isAbandoned() ? undefined : await make());
        } catch (error) {
          reject(error);
        }
      };
      this.waiting.add({ requester, run });
      if (!this.isWorking) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.isWorking = true;
    while (this.waiting.size > 0) {
      await this.whenRoom();
      const next = this.waiting.take();
      if (next === undefined) break;
      const begunAtMs = this.nowMs();
      await next.run();
      this.debts.charge(next.requester, this.nowMs() - begunAtMs);
      this.waiting.served(next.requester);
    }
    this.isWorking = false;
  }
}

interface Turn {
  readonly requester: Requester;
  run(): Promise<void>;
}
