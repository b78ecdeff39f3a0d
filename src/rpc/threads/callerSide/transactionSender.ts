import type { SubmissionErrorCode } from "../../../txpool/errors.ts";
import type { Batch, Gatherer } from "../../../workers/channel/channel.ts";
import type { HostLimit } from "../../../workers/channel/requestSender.ts";
import type { DecidedTransactions, FromThread, ThreadChannel } from "../messages.ts";
import { packBytes } from "../packedBytes.ts";

/** Hands the transactions of this thread's callers to the pool on the main thread (mainSide/admitPacked.ts), which decides in their order. */
export class TransactionSender implements Gatherer<Batch<Pick<FromThread, "transactions">>> {
  private readonly channel: Pick<ThreadChannel, "gather">;
  private readonly limit: HostLimit;
  private readonly undecided: Undecided[] = [];
  private unsent: Uint8Array[] = [];

  constructor(channel: Pick<ThreadChannel, "gather">, limit: HostLimit) {
    this.channel = channel;
    this.limit = limit;
  }

  /** Resolves to why the pool refused it, or to undefined when it was added. */
  add(raw: Uint8Array, remoteHost: string): Promise<SubmissionErrorCode | undefined> {
    const { limit } = this;
    const { length } = raw;
    if (!limit.takeMessage(remoteHost) || !limit.takeBytes(remoteHost, length))
      return Promise.resolve("tooManyWaiting");
    return new Promise((resolve) => {
      if (this.unsent.length === 0) this.channel.gather(this);
      this.unsent.push(raw);
      this.undecided.push({ resolve, remoteHost, length });
    });
  }

  takeBatch(): Batch<Pick<FromThread, "transactions">> {
    const bytes = packBytes(this.unsent);
    this.unsent = [];
    return { kind: "transactions", content: bytes, messages: 0, bytes: 0, transferred: [bytes.buffer] };
  }

  receive({ count, refused }: DecidedTransactions): void {
    const reasons = new Map(refused);
    for (const [place, { resolve, remoteHost, length }] of this.undecided.splice(0, count).entries()) {
      this.limit.giveBack(remoteHost, length);
      resolve(reasons.get(place));
    }
  }
}

interface Undecided {
  readonly remoteHost: string;
  readonly length: number;
  resolve(reason: SubmissionErrorCode | undefined): void;
}
