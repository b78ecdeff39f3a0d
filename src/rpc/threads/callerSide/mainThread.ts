import type { Logger } from "../../../observability/logger.ts";
import { createRemoteLogger } from "../../../observability/remoteLogger.ts";
import { systemClock } from "../../../primitives/clock.ts";
import { Channel, type Handlers } from "../../../workers/channel/channel.ts";
import type { CreditMemory } from "../../../workers/channel/credit.ts";
import { RequestSender } from "../../../workers/channel/requestSender.ts";
import type { Core } from "../../core/core.ts";
import { createRemoteCore } from "../../core/remoteCore.ts";
import { createRpcMetrics, type RpcMetrics } from "../../rpcMetrics.ts";
import { type HostMemory, shareHosts } from "../../server/sharedHosts.ts";
import { estimateSize } from "../estimateSize.ts";
import { openInterests } from "../interests.ts";
import {
  type FromThread,
  MESSAGES,
  type PostedFromThread,
  type ThreadChannel,
  type ToThread,
} from "../messages.ts";
import type { CoreOutcome, CoreRequest } from "../protocol.ts";
import { EventFeed } from "./eventFeed.ts";
import { HostCredit } from "./hostCredit.ts";
import { LogForwarder } from "./logForwarder.ts";
import { MetricsForwarder } from "./metricsForwarder.ts";
import { TransactionSender } from "./transactionSender.ts";

/** Memory that the threads for callers and the main thread share for what goes between them, and the place of this thread in it. */
interface SharedMemory {
  /** Number of the thread, from 0. */
  readonly index: number;
  readonly held: Readonly<
    Record<"requests" | "requestBytes" | "transactions" | "transactionBytes", HostMemory>
  > & { readonly credits: CreditMemory };
  readonly interests: SharedArrayBuffer;
  readonly logLevels: SharedArrayBuffer;
  readonly isMetered: boolean;
}

/** What comes for the parts of a MainThread. */
type ForParts = "answers" | "decided" | "poolEvents" | "syncing" | "flush";

/**
 * The main thread as a thread for callers has it. All that the two send each other goes over one channel:
 *
 *     core             ── requests, transactions ──>             ── answers, decided ──> core
 *     logger, metrics  ── lines, counts ───────────> main thread
 *     feed             ── what callers wait for ───>             ── events ────────────> feed
 */
export class MainThread {
  readonly channel: ThreadChannel;
  readonly logger: Logger;
  /** Undefined when metrics are off. */
  readonly metrics: RpcMetrics | undefined;
  readonly feed: EventFeed;
  readonly core: Core;
  readonly handlers: Pick<Handlers<ToThread>, ForParts>;
  private readonly requests: RequestSender<CoreRequest, CoreOutcome>;
  private readonly counts: MetricsForwarder | undefined;

  constructor(
    { index, held, interests: interestsMemory, logLevels, isMetered }: SharedMemory,
    post: (posted: PostedFromThread, transferred: readonly ArrayBuffer[]) => void,
  ) {
    const channel = new Channel<FromThread, ToThread>(
      MESSAGES,
      { memory: held.credits, thread: index },
      post,
    );
    const lines = new LogForwarder(channel);
    this.channel = channel;
    this.logger = createRemoteLogger(logLevels, systemClock, (line) => lines.forward(line));
    const counts = isMetered ? new MetricsForwarder(channel) : undefined;
    this.counts = counts;
    this.metrics =
      counts &&
      createRpcMetrics(
        () => performance.now() / 1000,
        (one) => counts.count(one),
      );
    const interests = openInterests(1, interestsMemory);
    const feed = new EventFeed((kinds) => interests.change(index, kinds));
    this.feed = feed;
    const creditOf = (kind: "requests" | "transactions", messages: HostMemory, bytes: HostMemory) =>
      new HostCredit(kind, { messages: shareHosts(messages, index), bytes: shareHosts(bytes, index) });
    const requests = new RequestSender<CoreRequest, CoreOutcome>(
      channel,
      creditOf("requests", held.requests, held.requestBytes),
      estimateSize,
    );
    this.requests = requests;
    const transactions = new TransactionSender(
      channel,
      creditOf("transactions", held.transactions, held.transactionBytes),
    );
    this.core = this.coreWith(transactions);
    this.handlers = {
      answers: (answers) => requests.receive(answers),
      decided: (decided) => transactions.receive(decided),
      poolEvents: (events) => feed.receive(events),
      syncing: (status) => feed.syncChanged(status),
      flush() {
        counts?.flush();
        channel.send("flushed", undefined);
      },
    };
  }

  /** The core, except that `sender` takes the transactions. */
  coreWith(sender: TransactionSender): Core {
    return createRemoteCore(this.requests, sender);
  }

  /** Sends what was counted, and ends what waits for an answer. */
  close(): void {
    this.counts?.flush();
    this.requests.close();
  }
}
