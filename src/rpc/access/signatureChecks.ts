import { FairQueue } from "../../primitives/fairQueue.ts";
import type { Requester } from "../../primitives/requester.ts";
import { WAITING_TOKENS } from "./limits.ts";

interface Waiting {
  readonly requester: Requester;
  check(): Promise<void>;
  drop(): void;
}

/**
 * Runs the checks of a server's signatures one at a time, remote hosts in turn. Node.js does them on the threads that also
 * write the database, and one takes up to milliseconds: a flood of tokens must not keep blocks from being written.
 */
export class SignatureChecks {
  private readonly queue = new FairQueue<Waiting>(WAITING_TOKENS);
  private isChecking = false;

  /** What `check` gives, once its turn has come; undefined when too many wait. */
  run<Checked>(remoteHost: string, check: () => Promise<Checked>): Promise<Checked | undefined> {
    return new Promise((resolve, reject) => {
      const dropped = this.queue.add({
        requester: { remoteHost, client: {}, isAbandoned: () => false },
        check: () => check().then(resolve, reject),
        drop: () => resolve(undefined),
      });
      dropped?.drop();
      void this.work();
    });
  }

  private async work(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    for (let next = this.queue.take(); next !== undefined; next = this.queue.take()) await next.check();
    this.isChecking = false;
  }
}
