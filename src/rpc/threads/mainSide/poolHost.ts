import type { AdmissionQueue, Readable } from "../../../txpool/admissionQueue.ts";
import { decodeTransaction } from "../../../types/transaction.ts";
import type { DecidedTransactions } from "../messages.ts";
import { unpackBytes } from "../packedBytes.ts";

/** The main thread's side of the transactions of all threads. */
export class PoolHost {
  private readonly queue: Pick<AdmissionQueue, "add">;

  constructor(queue: Pick<AdmissionQueue, "add">) {
    this.queue = queue;
  }

  /** `decide` is called in the order of the transactions. They are added also when their thread has ended meanwhile. */
  receive(bytes: Uint8Array<ArrayBuffer>, decide: (decided: DecidedTransactions) => void): void {
    this.queue.add(decodedIn(bytes), {
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
}

function* decodedIn(bytes: Uint8Array<ArrayBuffer>): Generator<Readable> {
  for (const raw of unpackBytes(bytes)) {
    const decoded = decodeTransaction(raw);
    yield decoded.ok ? decoded.value : decoded.error;
  }
}
