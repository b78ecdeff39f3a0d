import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../primitives/clock.ts";
import { createIngressBudget } from "../../primitives/ingressBudget.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import {
  LARGE_MESSAGE,
  LARGE_MESSAGES_BURST_MS,
  LARGE_MESSAGES_TIME_SHARE,
  LARGE_MESSAGES_WAITING,
} from "./limits.ts";
import { parseMessage, TOO_MUCH } from "./parseMessage.ts";

/**
 * Makes values of what clients send. A large message can take a tenth of a second and more, so large ones are read in a
 * share of the main thread's time, those of all clients together: blocks must not wait for whoever sends many. Machines
 * take turns, and each may have as much waiting as is then left for others: the next one finds room.
 */
export interface MessageReader {
  /**
   * Hands the value to `then`: at once, or later when the message is large; the promise follows what `then` does. A value
   * is undefined for what is no JSON, and TOO_MUCH for what has too much in it. Who has gone meanwhile is not read.
   * "busy" when too much waits.
   */
  read(text: string, sender: Sender, then: (value: unknown) => void): undefined | "busy" | Promise<void>;
  /** What waits is never read. */
  close(): void;
}

export type Sender = Pick<Requester, "remoteHost" | "isAbandoned">;

/** With `metrics`, counts what is turned away. */
export function createMessageReader(clock: Clock, metrics?: Pick<RpcMetrics, "rejected">): MessageReader {
  const ingressBudget = createIngressBudget(clock, {
    share: LARGE_MESSAGES_TIME_SHARE,
    burstMs: LARGE_MESSAGES_BURST_MS,
  });
  let waiting = 0;
  /** The same by machine, of those that have anything waiting. */
  const waitingOf = new Map<string, number>();

  function isTooMuch(remoteHost: string, length: number): boolean {
    const own = waitingOf.get(remoteHost) ?? 0;
    return waiting > 0 && own + length > LARGE_MESSAGES_WAITING - waiting;
  }

  function countWaiting(remoteHost: string, length: number): void {
    waiting += length;
    const own = (waitingOf.get(remoteHost) ?? 0) + length;
    if (own === 0) waitingOf.delete(remoteHost);
    else waitingOf.set(remoteHost, own);
  }

  /** The value, once it was its turn; others have theirs before anything is made of it. */
  async function inTurn(text: string, sender: Sender): Promise<{ readonly value: unknown } | undefined> {
    const { remoteHost } = sender;
    countWaiting(remoteHost, text.length);
    const read = await new Promise<{ readonly value: unknown } | undefined>((resolve) =>
      ingressBudget.take(
        () => resolve(sender.isAbandoned() ? undefined : { value: parseMessage(text) }),
        remoteHost,
      ),
    );
    countWaiting(remoteHost, -text.length);
    await nextTurn();
    return read;
  }

  return {
    read(text, sender, then) {
      if (text.length < LARGE_MESSAGE) {
        then(parseMessage(text));
        return undefined;
      }
      if (isTooMuch(sender.remoteHost, text.length)) {
        metrics?.rejected("busy");
        return "busy";
      }
      return inTurn(text, sender).then((read) => {
        if (read === undefined) return;
        if (read.value === TOO_MUCH) metrics?.rejected("parts");
        // Requests are taken out of the text at once, and a long id takes another look at all of it.
        ingressBudget.charge(() => then(read.value));
      });
    },
    close: ingressBudget.close,
  };
}
