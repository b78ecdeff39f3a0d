import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { silentLogger } from "../observability/logger.ts";
import { expectDefined } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import { toHex } from "../primitives/hex.ts";
import { createDispatcher, type Dispatcher } from "../rpc/dispatcher.ts";
import type { RpcMethod } from "../rpc/method.ts";
import type { RpcBackend } from "../rpc/ports.ts";
import { CallerTime } from "../rpc/server/callerTime.ts";
import { HttpCaller } from "../rpc/server/httpIntake.ts";
import { MessageReader } from "../rpc/server/messageReader.ts";
import { createHostMemory, type SharedHosts, shareHosts } from "../rpc/server/sharedHosts.ts";
import { HostCredit } from "../rpc/threads/callerSide/hostCredit.ts";
import { TransactionSender } from "../rpc/threads/callerSide/transactionSender.ts";
import { type FromThread, MESSAGES, type ToThread } from "../rpc/threads/messages.ts";
import { Channel } from "../workers/channel/channel.ts";
import { createCreditMemory } from "../workers/channel/credit.ts";
import { type TransferKind, unsignedTransfer } from "./madeUpTransfers.ts";

/** The thread's backend, whose transactions this sender hands over. */
type BackendWith = (sender: TransactionSender) => RpcBackend;

/**
 * Reads and answers made-up calls of eth_sendRawTransaction on a thread for callers, from the text of a batch to the text of
 * its answer, as the thread does for callers. Messages to the main thread are dropped, and nothing is counted.
 */
export class MadeUpCalls {
  readonly #open: () => readonly MadeUpServer[];
  #servers: readonly MadeUpServer[] | undefined;
  #made = 0n;

  /**
   * The parts are those of the thread, or made-up ones of the same classes: code compiled for others would be compiled
   * again. There are two of each made-up part, as of chains (warmUp.ts).
   */
  constructor(methods: readonly RpcMethod[], backendWith: BackendWith, clock: Clock) {
    this.#open = () => [1, 2].map(() => openServer(methods, backendWith, clock));
  }

  /**
   * Answers `count` calls in batches of milliseconds, between which waiting work comes first. Never rejects: the thread
   * continues.
   */
  async answer(count: number): Promise<void> {
    try {
      for (let left = count; left > 0; left -= BATCH) {
        await this.answerBatch(Math.min(left, BATCH));
        await yieldToEventLoop();
      }
    } catch {
      // The code is then compiled when callers arrive.
    }
  }

  /** Resolves to the text of the answer to a batch of `count` calls. */
  async answerBatch(count: number): Promise<string> {
    this.#servers ??= this.#open();
    const [server, other] = this.#servers;
    const { reader, dispatcher } = expectDefined(this.#made % 2n === 0n ? server : other, "a server");
    const text = `[${Array.from({ length: count }, () => this.#nextCall()).join(",")}]`;
    const caller = nobody();
    let calls: unknown;
    reader.read(text, caller, (value) => {
      calls = value;
    });
    const answer = await dispatcher.answerBatch(
      expectDefined(Array.isArray(calls) ? calls : undefined, "a batch that is read at once"),
      text,
      caller,
      () => undefined,
    );
    return String(answer);
  }

  close(): void {
    for (const { reader } of this.#servers ?? []) reader.close();
  }

  #nextCall(): string {
    const nonce = this.#made++;
    const kind: TransferKind = nonce % 3n === 0n ? "legacy" : "feeMarket";
    const raw = unsignedTransfer(kind, { nonce, priceWei: 1_000_000_000n, recipient: nonce });
    return `{"jsonrpc":"2.0","id":${nonce},"method":"eth_sendRawTransaction","params":["${toHex(raw)}"]}`;
  }
}

/** Number of calls in a batch, of some 300 characters each: an odd number, so that batches alternate between the servers. */
const BATCH = 15;

interface MadeUpServer {
  readonly reader: MessageReader;
  readonly dispatcher: Dispatcher;
}

function openServer(methods: readonly RpcMethod[], backendWith: BackendWith, clock: Clock): MadeUpServer {
  const none = (): SharedHosts => shareHosts(createHostMemory(1), 0);
  const place = { memory: createCreditMemory(MESSAGES, 1), thread: 0 };
  const channel = new Channel<FromThread, ToThread>(MESSAGES, place, () =>
    setImmediate(() => sender.receive(ALL_ADDED)),
  );
  const limit = new HostCredit("transactions", { messages: none(), bytes: none() });
  const sender = new TransactionSender(channel, limit);
  return {
    reader: new MessageReader(clock, undefined, none()),
    dispatcher: createDispatcher(
      { methods, modules: new Set(["ETH"]) },
      {
        backend: backendWith(sender),
        logger: silentLogger,
        metrics: undefined,
        callerTime: new CallerTime(),
      },
    ),
  };
}

/** The pool's answer for all waiting transactions. */
const ALL_ADDED = { count: Number.MAX_SAFE_INTEGER, refused: [] } as const;

/** A caller over HTTP without a connection. */
function nobody(): HttpCaller {
  const request = new IncomingMessage(new Socket());
  const rights = { isForeignPage: false, grant: undefined };
  return new HttpCaller(request, new ServerResponse(request), rights, () => "");
}
