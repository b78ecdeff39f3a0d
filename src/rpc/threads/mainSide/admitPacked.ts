import type { AdmissionQueue } from "../../../txpool/admissionQueue.ts";
import type { DecidedTransactions } from "../messages.ts";
import { unpackSubmissions } from "../packedSubmissions.ts";

/**
 * Adds a thread's transactions to the pool, also when the thread has ended meanwhile. `decide` is called in the order of the
 * transactions.
 */
export function admitPacked(
  queue: Pick<AdmissionQueue, "add">,
  bytes: Uint8Array<ArrayBuffer>,
  decide: (decided: DecidedTransactions) => void,
): void {
  queue.add(unpackSubmissions(bytes), {
    decided({ count, refused }) {
      const codes = refused.map(([place, { code }]) => [place, code] as const);
      decide({ count, refused: codes });
    },
    // A node that stops closes its callers' connections: nobody waits for an answer.
    unrecovered: () => undefined,
    // The node ends with this fault.
    failed(_count, error) {
      throw error;
    },
  });
}
