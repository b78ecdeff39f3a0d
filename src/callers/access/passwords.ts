import { FairQueue } from "../../primitives/fairQueue.ts";
import type { Requester } from "../../primitives/requester.ts";
import { SupervisedThread } from "../../workers/supervisedThread.ts";
import { workerEntry } from "../../workers/workerEntry.ts";
import { PASSWORD_HEAP_MB, WAITING_LOGINS } from "./limits.ts";
import type { PasswordJob } from "./passwordWorker.ts";

type Attempt = Pick<Requester, "remoteHost" | "isAbandoned">;

interface Waiting {
  readonly job: PasswordJob;
  readonly requester: Requester;
  resolve(answer: boolean | "busy"): void;
}

/** Compares passwords with hashes on a thread, one at a time; remote hosts take turns. The thread starts with the first password. */
export class PasswordChecker {
  private readonly queue = new FairQueue<Waiting>(WAITING_LOGINS);
  private readonly thread: SupervisedThread<boolean>;
  private current: Waiting | undefined;

  constructor() {
    this.thread = new SupervisedThread<boolean>(
      { entry: workerEntry("passwordWorker"), heapMb: PASSWORD_HEAP_MB },
      {
        ready: () => this.next(),
        receive: (isRight) => this.settle(isRight),
        died: () => this.settle("busy"),
      },
    );
  }

  /** "busy" when too many wait, when the thread ended, or when the attempt is abandoned before its turn comes. */
  check(job: PasswordJob, attempt: Attempt): Promise<boolean | "busy"> {
    this.thread.start();
    return new Promise((resolve) => {
      const dropped = this.queue.add({ job, requester: { ...attempt, client: {} }, resolve });
      dropped?.resolve("busy");
      this.next();
    });
  }

  async close(): Promise<void> {
    for (const { resolve } of this.queue.takeAll()) resolve("busy");
    this.settle("busy");
    await this.thread.close();
  }

  private settle(answer: boolean | "busy"): void {
    const { current } = this;
    this.current = undefined;
    current?.resolve(answer);
    // Not before the answer has been counted, which may decide that the next one is abandoned.
    queueMicrotask(() => this.next());
  }

  private next(): void {
    if (this.current !== undefined || !this.thread.isReady) return;
    this.current = this.takeWanted();
    this.thread.setBusy(this.current !== undefined);
    if (this.current !== undefined) this.thread.post(this.current.job);
  }

  private takeWanted(): Waiting | undefined {
    let next = this.queue.take();
    while (next?.requester.isAbandoned() === true) {
      next.resolve("busy");
      next = this.queue.take();
    }
    return next;
  }
}
