import { packBytes } from "../../../primitives/packedBytes.ts";
import { fail, ok } from "../../../primitives/result.ts";
import type { SubmissionErrorCode } from "../../../txpool/errors.ts";
import { occupiedBytes } from "../../../txpool/occupancy.ts";
import { decodeSubmission, type Submitted } from "../../../txpool/submission.ts";
import type { Batch, Gatherer } from "../../../workers/channel/channel.ts";
import type { HostLimit } from "../../../workers/channel/requestSender.ts";
import type { DecidedTransactions, FromThread, ThreadChannel } from "../messages.ts";
import { packSubmission, SUBMISSION_BYTES } from "../packedSubmissions.ts";

/**
 * Hands the transactions of this thread's callers to the pool on the main thread (mainSide/admitPacked.ts), which decides in their order.
 * What is no transaction is refused here. Those of one event-loop cycle are one message.
 */
export class TransactionSender implements Gatherer<Batch<Pick<FromThread, "transactions">>> {
  private readonly channel: Pick<ThreadChannel, "gather">;
  private readonly limit: HostLimit;
  private readonly undecided: Undecided[] = [];
  private unsent: Uint8Array[] = [];

  constructor(channel: Pick<ThreadChannel, "gather">, limit: HostLimit) {
    this.channel = channel;
    this.limit = limit;
  }

  async submit(raw: Uint8Array, remoteHost: string): Promise<Submitted> {
    const decoded = decodeSubmission(raw);
    if (!decoded.ok) return decoded;
    const { value: transaction } = decoded;
    const bytes = SUBMISSION_BYTES + occupiedBytes(transaction);
    const { limit } = this;
    const isAdmitted = limit.takeMessage(remoteHost) && limit.takeBytes(remoteHost, bytes);
    if (!isAdmitted) return refused("tooManyWaiting");
    const code = await new Promise<SubmissionErrorCode | undefined>((resolve) => {
      if (this.unsent.length === 0) this.channel.gather(this);
      this.unsent.push(packSubmission(transaction));
      this.undecided.push({ resolve, remoteHost, bytes });
    });
    return code === undefined ? ok(transaction.hash) : refused(code);
  }

  takeBatch(): Batch<Pick<FromThread, "transactions">> {
    const bytes = packBytes(this.unsent);
    this.unsent = [];
    return { kind: "transactions", content: bytes, messages: 0, bytes: 0, transferred: [bytes.buffer] };
  }

  receive({ count, refused: those }: DecidedTransactions): void {
    const reasons = new Map(those);
    for (const [place, { resolve, remoteHost, bytes }] of this.undecided.splice(0, count).entries()) {
      this.limit.giveBack(remoteHost, bytes);
      resolve(reasons.get(place));
    }
  }
}

interface Undecided {
  readonly remoteHost: string;
  readonly bytes: number;
  resolve(reason: SubmissionErrorCode | undefined): void;
}

function refused(code: SubmissionErrorCode): Submitted {
  return fail("caller", code, "the pool refused it");
}
