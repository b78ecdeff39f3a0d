import { FairQueue } from "../../primitives/fairQueue.ts";
import type { Requester } from "../../primitives/requester.ts";
import { SupervisedThread } from "../../workers/supervisedThread.ts";
import { workerEntry } from "../../workers/workerEntry.ts";
import { PASSWORD_HEAP_MB, WAITING_LOGINS } from "./limits.ts";
import type { PasswordJob } from "./passwordWorker.ts";

/** Compares passwords with hashes on a thread, one at a time; remote hosts take turns. */
export interface PasswordChecker {
  /** "busy" when too many wait, or when the thread ended. */
  check(job: PasswordJob, remoteHost: string): Promise<boolean | "busy">;
  close(): Promise<void>;
}

/** The thread starts with the first password. */
export function createPasswordChecker(): PasswordChecker {
  return new ThreadedChecker();
}

interface Waiting {
  readonly job: PasswordJob;
  readonly requester: Requester;
  resolve(answer: boolean | "busy"): void;
}

class ThreadedChecker implements PasswordChecker {
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

  check(job: PasswordJob, remoteHost: string): Promise<boolean | "busy"> {
    this.thread.start();
    return new Promise((resolve) => {
      const requester = { remoteHost, client: {}, isAbandoned: () => false };
      const dropped = this.queue.add({ job, requester, resolve });
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
    this.next();
  }

  private next(): void {
    if (this.current !== undefined || !this.thread.isReady) return;
    this.current = this.queue.take();
    this.thread.setBusy(this.current !== undefined);
    if (this.current !== undefined) this.thread.post(this.current.job);
  }
}
