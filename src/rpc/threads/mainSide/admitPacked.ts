import type { AdmissionQueue, Readable } from "../../../txpool/admissionQueue.ts";
import { decodeTransaction } from "../../../types/transaction.ts";
import type { DecidedTransactions } from "../messages.ts";
import { unpackBytes } from "../packedBytes.ts";

/**
 * Adds a thread's transactions to the pool, also when the thread has ended meanwhile. `decide` is called in the order of the
 * transactions.
 */
export function admitPacked(
  queue: Pick<AdmissionQueue, "add">,
  bytes: Uint8Array<ArrayBuffer>,
  decide: (decided: DecidedTransactions) => void,
): void {
  queue.add(decodedIn(bytes), {
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

function* decodedIn(bytes: Uint8Array<ArrayBuffer>): Generator<Readable> {
  for (const raw of unpackBytes(bytes)) {
    const decoded = decodeTransaction(raw);
    yield decoded.ok ? decoded.value : decoded.error;
  }
}
