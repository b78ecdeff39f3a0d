import { MessageChannel } from "node:worker_threads";
import { onTestFinished } from "vitest";
import { silentLogger } from "../../src/observability/logger.ts";
import type { Core } from "../../src/rpc/core/core.ts";
import { createRemoteCore } from "../../src/rpc/core/remoteCore.ts";
import { HostCredit } from "../../src/rpc/threads/callerSide/hostCredit.ts";
import { TransactionSender } from "../../src/rpc/threads/callerSide/transactionSender.ts";
import { estimateSize } from "../../src/rpc/threads/estimateSize.ts";
import { admitPacked } from "../../src/rpc/threads/mainSide/admitPacked.ts";
import { RequestHost } from "../../src/rpc/threads/mainSide/requestHost.ts";
import {
  type FromThread,
  MESSAGES,
  type PostedFromThread,
  type PostedToThread,
  type ToThread,
} from "../../src/rpc/threads/messages.ts";
import type { CoreOutcome, CoreRequest } from "../../src/rpc/threads/protocol.ts";
import type { AdmissionQueue } from "../../src/txpool/admissionQueue.ts";
import { Channel, type Handlers } from "../../src/workers/channel/channel.ts";
import { Credit, createCreditMemory } from "../../src/workers/channel/credit.ts";
import { RequestSender } from "../../src/workers/channel/requestSender.ts";
import { handlersOf } from "./aChannel.ts";

/**
 * A core on the main thread, as a thread for callers has it; the two exchange real messages. Transactions go to the queue, and are never
 * decided on where a test has none.
 */
export function aRemoteCore(
  main: Core,
  logger = silentLogger,
  queue: Pick<AdmissionQueue, "add"> = { add: () => undefined },
) {
  const { port1, port2 } = new MessageChannel();
  const place = { memory: createCreditMemory(MESSAGES, 1), thread: 0 };
  const atThread = new Channel<FromThread, ToThread>(MESSAGES, place, (...sent) =>
    port1.postMessage(...sent),
  );
  const atMain = new Channel<ToThread, FromThread>(MESSAGES, place, (...sent) => port2.postMessage(...sent));
  const requests = new RequestSender<CoreRequest, CoreOutcome>(
    atThread,
    new HostCredit("requests"),
    estimateSize,
  );
  const transactions = new TransactionSender(atThread, new HostCredit("transactions"));
  const threadHandlers = handlersOf<Handlers<ToThread>>({
    answers: (answers) => requests.receive(answers),
    decided: (decided) => transactions.receive(decided),
  });
  /** Messages of answers that the thread has not taken, because it is held up. */
  const untaken: PostedToThread[] = [];
  let isHeldUp = false;
  port1.on("message", (parts: PostedToThread) => {
    if (isHeldUp) untaken.push(parts);
    else atThread.receive(parts, threadHandlers);
  });
  const host = new RequestHost(atMain, { core: main, logger });
  const mainHandlers = handlersOf<Handlers<FromThread>>({
    transactions: (bytes) => admitPacked(queue, bytes, (decided) => atMain.send("decided", decided)),
    requests: (content) => host.receive(content),
    abandoned: (ids) => host.abandon(ids),
  });
  let messages = 0;
  port2.on("message", (parts: PostedFromThread) => {
    messages++;
    atMain.receive(parts, mainHandlers);
  });
  onTestFinished(() => {
    requests.close();
    port1.close();
  });
  return {
    core: createRemoteCore(requests, transactions),
    answerCredit: new Credit(MESSAGES, "answers", place.memory, 0),
    /** Messages that the main thread got. */
    messages: () => messages,
    /** The thread has ended. */
    drop: () => atMain.drop(),
    holdUp(): void {
      isHeldUp = true;
    },
    goOn(): void {
      isHeldUp = false;
      for (const parts of untaken.splice(0)) atThread.receive(parts, threadHandlers);
    },
  };
}
