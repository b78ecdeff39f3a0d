import type { Logger } from "../../observability/logger.ts";
import type { Clock, Timer } from "../../primitives/clock.ts";
import { ALL_ANSWERS_BYTES, ALL_BACKLOGS_BYTES } from "./limits.ts";
import type { MessageTransport } from "./messageTransport.ts";
import { holdsTooMuch, type SharedTotal, type SharedTotals, shareTotals } from "./sharedTotals.ts";

/** A connection, as far as it leaves something unread. */
export interface ReadConnection {
  readonly protocol: MessageTransport["name"];
  /** Size of the answers that wait to be sent; 0 after a cut. */
  readonly unreadAnswerBytes: number;
  /** Bytes of notifications that wait to be sent; 0 after a cut. */
  readonly backlogBytes: number;
  cut(): void;
  onClose(listener: () => void): void;
}

interface UnreadParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** What is held together with other threads; nothing is if not given. */
  readonly totals?: Pick<SharedTotals, "messageAnswers" | "notifications"> | undefined;
}

/** Bounds what the clients of all connections of messages leave unread: above a limit the slowest readers are cut. */
export class UnreadLimits {
  private readonly connections = new Set<ReadConnection>();
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly answers: Limited;
  private readonly backlogs: Limited;
  private readonly threads: number;
  private nextCheckMs: number;
  /** Bytes of answers, including those of connections that were just cut. */
  private answered = 0;
  private timer: Timer | undefined;

  constructor(
    { clock, logger, totals = shareTotals() }: UnreadParts,
    answerLimitBytes: number = ALL_ANSWERS_BYTES,
  ) {
    this.clock = clock;
    this.logger = logger;
    this.answers = { total: totals.messageAnswers, limit: answerLimitBytes, of: answersOf };
    this.backlogs = { total: totals.notifications, limit: ALL_BACKLOGS_BYTES, of: backlogOf };
    this.nextCheckMs = clock.nowMs();
    this.threads = totals.notifications.threads;
  }

  /** Bounds what this connection leaves unread, with that of the others, until it closes. */
  add(connection: ReadConnection): void {
    this.connections.add(connection);
    if (this.threads > 1 && this.timer === undefined) this.checkLater();
    connection.onClose(() => this.connections.delete(connection));
  }

  /** Called before each notification with the bytes of notifications that wait on its connection. */
  onBacklog(bytes: number): void {
    if (bytes >= CHECKED_BACKLOG_BYTES && this.clock.nowMs() >= this.nextCheckMs) this.checkBacklogs();
  }

  /**
   * Called with the size of each answer when it is written and, as a negative number, when it is sent or dropped: a client may
   * request many large ones before the first is ready.
   */
  onAnswer(bytes: number): void {
    const { answers } = this;
    this.answered += bytes;
    answers.total.set(this.answered);
    if (bytes > 0 && holdsTooMuch(answers.total, answers.limit)) this.cutSlowest(answers);
  }

  stop(): void {
    this.timer?.cancel();
  }

  /** Where other threads have connections, this one may have to give something up although it writes nothing more. */
  private checkLater(): void {
    this.timer = this.clock.at(this.clock.nowMs() + CHECK_PAUSE_MS, () => {
      this.checkBacklogs();
      this.cutSlowest(this.answers);
      this.checkLater();
    });
  }

  private checkBacklogs(): void {
    this.nextCheckMs = this.clock.nowMs() + CHECK_PAUSE_MS;
    this.cutSlowest(this.backlogs);
  }

  /** Cuts the connections with most unread bytes until the rest is within the limit. */
  private cutSlowest({ total, limit, of: waitingFor }: Limited): void {
    let own = 0;
    for (const connection of this.connections) own += waitingFor(connection);
    total.set(own);
    if (!holdsTooMuch(total, limit)) return;
    const slowest = [...this.connections].sort((a, b) => waitingFor(b) - waitingFor(a));
    this.logger.warn(
      { waitingBytes: total.all },
      `${slowest[0]?.protocol} clients read too slowly; the slowest connections are closed`,
    );
    for (const connection of slowest) {
      own -= waitingFor(connection);
      connection.cut();
      total.set(own);
      if (!holdsTooMuch(total, limit)) return;
    }
  }
}

interface Limited {
  readonly total: SharedTotal;
  readonly limit: number;
  of(connection: ReadConnection): number;
}

const answersOf = ({ unreadAnswerBytes }: ReadConnection): number => unreadAnswerBytes;
const backlogOf = ({ backlogBytes }: ReadConnection): number => backlogBytes;

const CHECKED_BACKLOG_BYTES = 1024 * 1024;
const CHECK_PAUSE_MS = 100;
