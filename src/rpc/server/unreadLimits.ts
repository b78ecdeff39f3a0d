import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import { ALL_BACKLOGS_BYTES } from "./limits.ts";
import { holdsTooMuch, type SharedTotal, type SharedTotals } from "./sharedTotals.ts";
import type { WebSocketConnection } from "./websocketConnection.ts";

/** Bounds what the clients of all WebSocket connections leave unread: above a limit the slowest readers are cut. */
export interface UnreadLimits {
  /** Called before each notification with the bytes of notifications that wait on its connection. */
  onBacklog(bytes: number): void;
  /**
   * Called with the size of each answer when it is written and, as a negative number, when it is sent or dropped: a client may
   * request many large ones before the first is ready.
   */
  onAnswer(bytes: number): void;
  stop(): void;
}

export interface UnreadParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly totals: Pick<SharedTotals, "webSocketAnswers" | "notifications">;
}

export function limitUnread(
  connections: ReadonlySet<WebSocketConnection>,
  answerLimitBytes: number,
  { clock, logger, totals }: UnreadParts,
): UnreadLimits {
  const answers = { total: totals.webSocketAnswers, limit: answerLimitBytes, of: answersOf };
  const backlogs = { total: totals.notifications, limit: ALL_BACKLOGS_BYTES, of: backlogOf };
  let nextCheckMs = clock.nowMs();
  /** Bytes of answers, including those of connections that were just cut. */
  let answered = 0;

  function check(): void {
    nextCheckMs = clock.nowMs() + CHECK_PAUSE_MS;
    cutSlowest(connections, backlogs, logger);
  }

  /** Where other threads have connections, this one may have to give something up although it writes nothing more. */
  function checkRegularly(): void {
    check();
    cutSlowest(connections, answers, logger);
    timer = clock.at(clock.nowMs() + CHECK_PAUSE_MS, checkRegularly);
  }
  let timer =
    totals.notifications.threads > 1 ? clock.at(clock.nowMs() + CHECK_PAUSE_MS, checkRegularly) : undefined;

  return {
    onBacklog(bytes) {
      if (bytes >= CHECKED_BACKLOG_BYTES && clock.nowMs() >= nextCheckMs) check();
    },
    onAnswer(bytes) {
      answered += bytes;
      answers.total.set(answered);
      if (bytes > 0 && holdsTooMuch(answers.total, answers.limit)) cutSlowest(connections, answers, logger);
    },
    stop: () => timer?.cancel(),
  };
}

interface Limited {
  readonly total: SharedTotal;
  readonly limit: number;
  of(connection: WebSocketConnection): number;
}

const answersOf = ({ unreadAnswerBytes }: WebSocketConnection): number => unreadAnswerBytes;
const backlogOf = ({ backlogBytes }: WebSocketConnection): number => backlogBytes;

/** Cuts the connections with most unread bytes until the rest is within the limit. */
function cutSlowest(
  connections: ReadonlySet<WebSocketConnection>,
  { total, limit, of: waitingFor }: Limited,
  logger: Logger,
): void {
  let own = 0;
  for (const connection of connections) own += waitingFor(connection);
  total.set(own);
  if (!holdsTooMuch(total, limit)) return;
  logger.warn(
    { waitingBytes: total.all },
    "WebSocket clients read too slowly; the slowest connections are closed",
  );
  for (const connection of [...connections].sort((a, b) => waitingFor(b) - waitingFor(a))) {
    own -= waitingFor(connection);
    connection.cut();
    total.set(own);
    if (!holdsTooMuch(total, limit)) return;
  }
}

const CHECKED_BACKLOG_BYTES = 1024 * 1024;
const CHECK_PAUSE_MS = 100;
