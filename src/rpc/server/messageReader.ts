import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Clock } from "../../primitives/clock.ts";
import { IngressBudget } from "../../primitives/ingressBudget.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { HostShares } from "./hostShares.ts";
import {
  LARGE_MESSAGE,
  LARGE_MESSAGES_BURST_MS,
  LARGE_MESSAGES_TIME_SHARE,
  LARGE_MESSAGES_WAITING,
} from "./limits.ts";
import { parseMessage, TOO_MANY_PARTS } from "./parseMessage.ts";
import type { SharedHosts } from "./sharedHosts.ts";

type Sender = Pick<Requester, "remoteHost" | "isAbandoned">;

/**
 * Parses the messages of clients. A large message can take a tenth of a second and more, so the large messages of all
 * clients share a fixed part of the thread's time, and others are not delayed by a client that sends many. Remote
 * hosts take turns. A host may fill at most half of the room that is left, so the next one always finds some.
 */
export class MessageReader {
  private readonly metrics: Pick<RpcMetrics, "rejected"> | undefined;
  private readonly ingressBudget: IngressBudget;
  private readonly waiting: HostShares;

  /** With `metrics`, counts refused messages. `shared` is what waits on other threads. */
  constructor(clock: Clock, metrics?: Pick<RpcMetrics, "rejected">, shared?: SharedHosts) {
    this.metrics = metrics;
    this.ingressBudget = new IngressBudget(clock, {
      share: LARGE_MESSAGES_TIME_SHARE,
      burstMs: LARGE_MESSAGES_BURST_MS,
    });
    this.waiting = new HostShares(LARGE_MESSAGES_WAITING, shared);
  }

  /**
   * Passes the value to `then`: at once, or later when the message is large; the promise settles after `then` has run. The
   * value is undefined for invalid JSON and TOO_MANY_PARTS for a message above the limit. Skips the messages of senders
   * that disconnected in the meantime. Returns "busy" when too many characters wait.
   */
  read(text: string, sender: Sender, then: (value: unknown) => void): undefined | "busy" | Promise<void> {
    if (text.length < LARGE_MESSAGE) {
      then(parseMessage(text));
      return undefined;
    }
    if (!this.waiting.take(sender.remoteHost, text.length)) {
      this.metrics?.rejected("busy");
      return "busy";
    }
    return this.readInTurn(text, sender).then((read) => {
      if (read === undefined) return;
      if (read.value === TOO_MANY_PARTS) this.metrics?.rejected("parts");
      // Cutting the requests out of the text is charged too: a long id needs another pass over all of it.
      this.ingressBudget.charge(() => then(read.value));
    });
  }

  /** Drops the waiting messages. */
  close(): void {
    this.ingressBudget.close();
  }

  /** Parses when the sender's turn comes, then yields to the event loop before the value is used. */
  private async readInTurn(text: string, sender: Sender): Promise<{ readonly value: unknown } | undefined> {
    const { remoteHost } = sender;
    const read = await new Promise<{ readonly value: unknown } | undefined>((resolve) =>
      this.ingressBudget.take(
        () => resolve(sender.isAbandoned() ? undefined : { value: parseMessage(text) }),
        remoteHost,
      ),
    );
    this.waiting.giveBack(remoteHost, text.length);
    await yieldToEventLoop();
    return read;
  }
}
