import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../primitives/clock.ts";
import { createReadingPace } from "../../primitives/readingPace.ts";
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
 * share of the main thread's time, those of all clients together: blocks must not wait for whoever sends many.
 */
export interface MessageReader {
  /**
   * Hands the value to `then`: at once, or later when the message is large; the promise follows what `then` does. A value
   * is undefined for what is no JSON, and TOO_MUCH for what has too much in it. Who has gone meanwhile (`isAbandoned`)
   * is not read. "busy" when too much waits.
   */
  read(
    text: string,
    isAbandoned: () => boolean,
    then: (value: unknown) => void,
  ): undefined | "busy" | Promise<void>;
  /** What waits is never read. */
  close(): void;
}

/** With `metrics`, counts what is turned away. */
export function createMessageReader(clock: Clock, metrics?: Pick<RpcMetrics, "rejected">): MessageReader {
  const pace = createReadingPace(clock, {
    share: LARGE_MESSAGES_TIME_SHARE,
    burstMs: LARGE_MESSAGES_BURST_MS,
  });
  let waiting = 0;

  /** The value, once it was its turn; what is made of it is not charged to reading. */
  async function inTurn(
    text: string,
    isAbandoned: () => boolean,
  ): Promise<{ readonly value: unknown } | undefined> {
    waiting += text.length;
    const read = await new Promise<{ readonly value: unknown } | undefined>((resolve) =>
      pace.take(() => resolve(isAbandoned() ? undefined : { value: parseMessage(text) })),
    );
    waiting -= text.length;
    await nextTurn();
    return read;
  }

  return {
    read(text, isAbandoned, then) {
      if (text.length < LARGE_MESSAGE) {
        then(parseMessage(text));
        return undefined;
      }
      if (waiting > 0 && waiting + text.length > LARGE_MESSAGES_WAITING) {
        metrics?.rejected("busy");
        return "busy";
      }
      return inTurn(text, isAbandoned).then((read) => {
        if (read === undefined) return;
        if (read.value === TOO_MUCH) metrics?.rejected("parts");
        then(read.value);
      });
    },
    close: pace.close,
  };
}
