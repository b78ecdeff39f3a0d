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

/**
 * Parses the messages of clients. A large message can take a tenth of a second and more, so the large messages of all
 * clients share a fixed part of the thread's time, and others are not delayed by a client that sends many. Remote
 * hosts take turns. A host may fill at most half of the room that is left, so the next one always finds some.
 */
export interface MessageReader {
  /**
   * Passes the value to `then`: at once, or later when the message is large; the promise settles after `then` has run. The
   * value is undefined for invalid JSON and TOO_MANY_PARTS for a message above the limit. Skips the messages of senders
   * that disconnected in the meantime. Returns "busy" when too many characters wait.
   */
  read(text: string, sender: Sender, then: (value: unknown) => void): undefined | "busy" | Promise<void>;
  /** Drops the waiting messages. */
  close(): void;
}

type Sender = Pick<Requester, "remoteHost" | "isAbandoned">;

/** With `metrics`, counts refused messages. `shared` is what waits on other threads. */
export function createMessageReader(
  clock: Clock,
  metrics?: Pick<RpcMetrics, "rejected">,
  shared?: SharedHosts,
): MessageReader {
  const ingressBudget = new IngressBudget(clock, {
    share: LARGE_MESSAGES_TIME_SHARE,
    burstMs: LARGE_MESSAGES_BURST_MS,
  });
  const waiting = new HostShares(LARGE_MESSAGES_WAITING, shared);

  /** Parses when the sender's turn comes, then yields to the event loop before the value is used. */
  async function readInTurn(text: string, sender: Sender): Promise<{ readonly value: unknown } | undefined> {
    const { remoteHost } = sender;
    const read = await new Promise<{ readonly value: unknown } | undefined>((resolve) =>
      ingressBudget.take(
        () => resolve(sender.isAbandoned() ? undefined : { value: parseMessage(text) }),
        remoteHost,
      ),
    );
    waiting.giveBack(remoteHost, text.length);
    await yieldToEventLoop();
    return read;
  }

  return {
    read(text, sender, then) {
      if (text.length < LARGE_MESSAGE) {
        then(parseMessage(text));
        return undefined;
      }
      if (!waiting.take(sender.remoteHost, text.length)) {
        metrics?.rejected("busy");
        return "busy";
      }
      return readInTurn(text, sender).then((read) => {
        if (read === undefined) return;
        if (read.value === TOO_MANY_PARTS) metrics?.rejected("parts");
        // Cutting the requests out of the text is charged too: a long id needs another pass over all of it.
        ingressBudget.charge(() => then(read.value));
      });
    },
    close: () => ingressBudget.close(),
  };
}
