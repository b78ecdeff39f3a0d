import { FairQueue } from "../../primitives/fairQueue.ts";
import type { Requester } from "../../primitives/requester.ts";
import { WAITING_TOKENS } from "./limits.ts";

/**
 * Runs the checks of a server's signatures one at a time, remote hosts in turn. Node.js does them on the threads that also
 * write the database, and one takes up to milliseconds: a flood of tokens must not keep blocks from being written.
 */
export interface SignatureChecks {
  /** What `check` gives, once its turn has come; undefined when too many wait. */
  run<Checked>(remoteHost: string, check: () => Promise<Checked>): Promise<Checked | undefined>;
}

interface Waiting {
  readonly requester: Requester;
  check(): Promise<void>;
  drop(): void;
}

export function createSignatureChecks(): SignatureChecks {
  const queue = new FairQueue<Waiting>(WAITING_TOKENS);
  let isChecking = false;

  async function work(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    for (let next = queue.take(); next !== undefined; next = queue.take()) await next.check();
    isChecking = false;
  }

  return {
    run: (remoteHost, check) =>
      new Promise((resolve, reject) => {
        const dropped = queue.add({
          requester: { remoteHost, client: {}, isAbandoned: () => false },
          check: () => check().then(resolve, reject),
          drop: () => resolve(undefined),
        });
        dropped?.drop();
        void work();
      }),
  };
}
