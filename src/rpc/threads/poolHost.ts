import type { AdmissionQueue, Readable } from "../../txpool/admissionQueue.ts";
import { decodeTransaction } from "../../types/transaction.ts";
import { unpackBytes } from "./packedBytes.ts";
import type { FromThread, ToThread } from "./protocol.ts";

type Transactions = FromThread & { readonly kind: "transactions" };
type Decided = ToThread & { readonly kind: "submitted" };

/** The main thread's side of the transactions of all threads. */
export class PoolHost {
  private readonly queue: Pick<AdmissionQueue, "add">;

  constructor(queue: Pick<AdmissionQueue, "add">) {
    this.queue = queue;
  }

  /** `decide` is called in the order of the transactions. They are added also when their thread has ended meanwhile. */
  receive({ bytes }: Transactions, decide: (decided: Decided) => void): void {
    // A node that stops closes its callers' connections: nobody waits for what fails.
    this.queue.add(decodedIn(bytes), { decided: (decided) => decide({ kind: "submitted", ...decided }) });
  }
}

function* decodedIn(bytes: Uint8Array<ArrayBuffer>): Generator<Readable> {
  for (const raw of unpackBytes(bytes)) {
    const decoded = decodeTransaction(raw);
    yield decoded.ok ? decoded.value : decoded.error.code;
  }
}
