import {
  type FromThread,
  type MainChannel,
  MESSAGES,
  type ThreadChannel,
  type ToThread,
} from "../../src/rpc/threads/messages.ts";
import { Channel, type Part } from "../../src/workers/channel/channel.ts";
import { Credit, createCreditMemory } from "../../src/workers/channel/credit.ts";

/** Both ends of the channel between a thread for callers and the main thread; what they send waits until the test hands it over. */
export interface TwoEnds {
  readonly thread: ThreadChannel;
  readonly main: MainChannel;
  readonly fromThread: Part<FromThread>[];
  readonly toThread: Part<ToThread>[];
  creditOf(kind: keyof FromThread | keyof ToThread): Credit;
}

export function aChannel(memory = createCreditMemory(MESSAGES, 1), thread = 0): TwoEnds {
  const fromThread: Part<FromThread>[] = [];
  const toThread: Part<ToThread>[] = [];
  return {
    thread: new Channel<FromThread, ToThread>(MESSAGES, { memory, thread }, (parts) =>
      fromThread.push(...parts),
    ),
    main: new Channel<ToThread, FromThread>(MESSAGES, { memory, thread }, (parts) => toThread.push(...parts)),
    fromThread,
    toThread,
    creditOf: (kind) => new Credit(MESSAGES, kind, memory, thread),
  };
}

const NOTHING = (): undefined => undefined;

/** Handlers for the messages that a test is about. */
export function handlersOf<Contents>(some: Partial<Contents>): Contents {
  return new Proxy(some as object, {
    get: (known, kind) => (known as Record<string | symbol, unknown>)[kind] ?? NOTHING,
  }) as Contents;
}
