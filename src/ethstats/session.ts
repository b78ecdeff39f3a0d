import type { ChainReader } from "../chain/chainReader.ts";
import type { Logger } from "../observability/logger.ts";
import type { Clock, Timer } from "../primitives/clock.ts";
import { viewAsBuffer } from "../primitives/hex.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import { type StoredBlock, transactionCountOf } from "../types/block.ts";
import {
  HELLO_MS,
  HISTORY_BLOCKS,
  HISTORY_MS,
  HISTORY_TRANSACTIONS_LIMIT,
  RECEIVED_BYTES_LIMIT,
  RECEIVED_MESSAGES_LIMIT,
  REPORT_MS,
  SILENCE_MS,
  WAITING_BYTES_LIMIT,
} from "./limits.ts";
import {
  blockReport,
  heartbeatText,
  helloText,
  historyReport,
  latencyText,
  type NodeIdentity,
  type NodeStats,
  pendingText,
  pingText,
  statsText,
} from "./reports.ts";
import { readServerMessage } from "./serverMessage.ts";

/** What the node says when it logs in. */
export interface EthstatsLogin {
  readonly nodeName: string;
  /** Never for a log. */
  readonly secret: string;
  readonly contact: string;
}

/** What a session reads of the node. */
export interface EthstatsParts {
  readonly chain: Pick<ChainReader, "head" | "blockByNumber">;
  /** Undefined until the node listens to peers, if it does. */
  identity(): NodeIdentity;
  stats(): NodeStats;
  /** The system that the node runs on, such as linux, and its architecture. */
  readonly platform: string;
  readonly architecture: string;
  /** For intervals. */
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  nowMs(): number;
  readonly logger: Logger;
}

/** A WebSocket as a session uses it. */
export interface EthstatsSocket {
  readonly bufferedAmount: number;
  send(text: string | Uint8Array, options: { readonly binary: false }): void;
  pong(content: Uint8Array): void;
  terminate(): void;
}

/**
 * One connection to an ethstats server, from its opening to its end:
 *
 *     hello ──> ready ──> every 5 s: node-ping, block, pending, stats
 *               node-pong ──> latency      history ──> history      heartbeat ──> heartbeat
 *
 * Invariants: whatever the server sends or leaves unread takes a bounded amount of memory and time (limits.ts), else the connection
 * ends; reports are made in steps; no text with the secret goes anywhere but to the server.
 */
export class EthstatsSession {
  private readonly socket: EthstatsSocket;
  private readonly login: EthstatsLogin;
  private readonly parts: EthstatsParts;
  private readonly onEnd: (reason: string) => void;
  private readonly identity: NodeIdentity;
  private timer: Timer;
  private isAccepted = false;
  private isEnded = false;
  private isReporting = false;
  private heardAtMs: number;
  private pingedAtMs: number | undefined;
  private historyAtMs = Number.NEGATIVE_INFINITY;
  private receivedBytes = 0;
  private receivedMessages = 0;

  /** Begins on a socket that is open. `onEnd` is called once, when the session ends itself, with the reason; the socket is ended by then. */
  constructor(
    socket: EthstatsSocket,
    login: EthstatsLogin,
    parts: EthstatsParts,
    onEnd: (reason: string) => void,
  ) {
    this.socket = socket;
    this.login = login;
    this.parts = parts;
    this.onEnd = onEnd;
    this.identity = parts.identity();
    const { clock, platform, architecture } = parts;
    this.heardAtMs = clock.nowMs();
    this.timer = clock.at(clock.nowMs() + HELLO_MS, () =>
      this.end("it did not accept the node's hello in time"),
    );
    this.send(helloText(this.identity, { ...login, platform, architecture }));
  }

  /** Whether the server has accepted the node. */
  get hasBegun(): boolean {
    return this.isAccepted;
  }

  /** Takes a text message of the server. */
  received(message: Uint8Array): void {
    if (!this.admits(message.length)) return;
    const read = readServerMessage(viewAsBuffer(message).toString("utf8"));
    switch (read?.kind) {
      case "heartbeat":
        this.send(heartbeatText(this.parts.nowMs()));
        break;
      case "ready":
        this.begin();
        break;
      case "pong":
        this.sendLatency();
        break;
      case "history":
        if (this.isAccepted) void this.answerHistory(read.numbers);
        break;
      default:
    }
  }

  /** Takes a ping of the WebSocket protocol. */
  pinged(content: Uint8Array): void {
    if (this.admits(content.length) && this.hasRoom()) this.socket.pong(content);
  }

  /** Counts what has no meaning here, such as a binary message. */
  ignored(content: Uint8Array): void {
    this.admits(content.length);
  }

  /** Ends the session without a word, when the socket has closed or the node stops. */
  close(): void {
    this.isEnded = true;
    this.timer.cancel();
    this.socket.terminate();
  }

  private begin(): void {
    if (this.isAccepted) return;
    this.isAccepted = true;
    this.parts.logger.info({ nodeName: this.login.nodeName }, "reporting to the ethstats server");
    this.report();
  }

  private end(reason: string): void {
    if (this.isEnded) return;
    this.close();
    this.onEnd(reason);
  }

  /** Counts what has come; ends the session when it is too much. */
  private admits(bytes: number): boolean {
    if (this.isEnded) return false;
    this.heardAtMs = this.parts.clock.nowMs();
    this.receivedBytes += bytes;
    this.receivedMessages++;
    if (this.receivedBytes <= RECEIVED_BYTES_LIMIT && this.receivedMessages <= RECEIVED_MESSAGES_LIMIT)
      return true;
    this.end("it sends more than an ethstats server needs to");
    return false;
  }

  /** Sends the reports, and again after a while. */
  private report(): void {
    const { clock, logger } = this.parts;
    this.timer.cancel();
    this.timer = clock.at(clock.nowMs() + REPORT_MS, () => this.report());
    this.receivedBytes = 0;
    this.receivedMessages = 0;
    if (clock.nowMs() - this.heardAtMs > SILENCE_MS) this.end("nothing has come from it for a minute");
    if (this.isEnded || !this.hasRoom() || this.isReporting) return;
    this.isReporting = true;
    this.sendReports()
      .catch((error: unknown) => logger.debug({ error }, "a report to the ethstats server failed"))
      .finally(() => {
        this.isReporting = false;
      });
  }

  private async sendReports(): Promise<void> {
    const { id } = this.identity;
    this.pingedAtMs = this.parts.clock.nowMs();
    this.send(pingText(id, this.parts.nowMs()));
    const head = this.parts.chain.blockByNumber(this.parts.chain.head.header.number);
    if (head !== undefined) this.send(await blockReport(id, head, new EventLoopPacer()));
    const stats = this.parts.stats();
    this.send(pendingText(id, stats));
    this.send(statsText(id, stats));
  }

  private sendLatency(): void {
    if (this.pingedAtMs === undefined) return;
    const latencyMs = Math.round(this.parts.clock.nowMs() - this.pingedAtMs);
    this.pingedAtMs = undefined;
    this.send(latencyText(this.identity.id, latencyMs));
  }

  /** Answers with old blocks, the newest first, which is the order that the server expects. */
  private async answerHistory(numbers: readonly bigint[]): Promise<void> {
    const { clock, logger } = this.parts;
    if (clock.nowMs() - this.historyAtMs < HISTORY_MS) return;
    this.historyAtMs = clock.nowMs();
    try {
      const pacer = new EventLoopPacer();
      const blocks = await this.blocksOf(numbers, pacer);
      if (blocks.length > 0) this.send(await historyReport(this.identity.id, blocks, pacer));
    } catch (error) {
      logger.debug({ error }, "old blocks could not be reported to the ethstats server");
    }
  }

  private async blocksOf(numbers: readonly bigint[], pacer: EventLoopPacer): Promise<readonly StoredBlock[]> {
    const { chain } = this.parts;
    const blocks: StoredBlock[] = [];
    let transactions = 0;
    for (const number of newestFirst(numbers, chain.head.header.number)) {
      const block = chain.blockByNumber(number);
      if (block === undefined) continue;
      transactions += transactionCountOf(block);
      if (transactions > HISTORY_TRANSACTIONS_LIMIT) break;
      blocks.push(block);
      if (pacer.isDue()) await pacer.yield();
    }
    return blocks;
  }

  private send(text: string | Uint8Array): void {
    if (!this.isEnded && this.hasRoom()) this.socket.send(text, { binary: false });
  }

  /** Whether the server reads what it is sent; ends the session when it does not. */
  private hasRoom(): boolean {
    if (this.socket.bufferedAmount <= WAITING_BYTES_LIMIT) return true;
    this.end("it does not read what it is sent");
    return false;
  }
}

/** The wanted blocks up to the head, or the newest ones where none is named. */
function newestFirst(numbers: readonly bigint[], head: bigint): readonly bigint[] {
  const wanted =
    numbers.length === 0
      ? Array.from({ length: HISTORY_BLOCKS }, (_, distance) => head - BigInt(distance))
      : [...numbers].sort((a, b) => (a < b ? 1 : -1));
  return wanted.filter((number) => number >= 0n && number <= head).slice(0, HISTORY_BLOCKS);
}
