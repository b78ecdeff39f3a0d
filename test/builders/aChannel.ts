import {
  type FromThread,
  type MainChannel,
  MESSAGES,
  type ThreadChannel,
  type ToThread,
} from "../../src/rpc/threads/messages.ts";
import { type Batch, Channel, type Posted } from "../../src/workers/channel/channel.ts";
import { Credit, createCreditMemory } from "../../src/workers/channel/credit.ts";

/** Both ends of the channel between a thread for callers and the main thread; what they send waits until the test hands it over. */
export interface TwoEnds {
  readonly thread: ThreadChannel;
  readonly main: MainChannel;
  readonly fromThread: Batch<FromThread>[];
  readonly toThread: Batch<ToThread>[];
  creditOf(kind: keyof FromThread | keyof ToThread): Credit;
}

export function aChannel(memory = createCreditMemory(MESSAGES, 1), thread = 0): TwoEnds {
  const fromThread: Batch<FromThread>[] = [];
  const toThread: Batch<ToThread>[] = [];
  return {
    thread: new Channel<FromThread, ToThread>(MESSAGES, { memory, thread }, (posted) =>
      fromThread.push(...batchesOf(posted)),
    ),
    main: new Channel<ToThread, FromThread>(MESSAGES, { memory, thread }, (posted) =>
      toThread.push(...batchesOf(posted)),
    ),
    fromThread,
    toThread,
    creditOf: (kind) => new Credit(MESSAGES, kind, memory, thread),
  };
}

export function batchesOf<Contents>(posted: Posted<Contents>): readonly Batch<Contents>[] {
  const batches: unknown[] = [];
  for (let at = 0; at < posted.length; at += 4) {
    const [kind, content, messages, bytes] = posted.slice(at, at + 4);
    batches.push({ kind, content, messages, bytes });
  }
  return batches as readonly Batch<Contents>[];
}

export function postedOf<Contents>(batches: readonly Batch<Contents>[]): Posted<Contents> {
  return batches.flatMap(({ kind, content, messages, bytes }) => [kind, content, messages, bytes]);
}

const NOTHING = (): undefined => undefined;

/** Handlers for the messages that a test is about. */
export function handlersOf<Contents>(some: Partial<Contents>): Contents {
  return new Proxy(some as object, {
    get: (known, kind) => (known as Record<string | symbol, unknown>)[kind] ?? NOTHING,
  }) as Contents;
}
