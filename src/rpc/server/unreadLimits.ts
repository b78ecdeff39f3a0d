import type { Logger } from "../../observability/logger.ts";
import type { Clock } from "../../primitives/clock.ts";
import { ALL_BACKLOGS_BYTES } from "./limits.ts";
import type { ServedConnection } from "./websocketConnection.ts";

/** Bounds the backlogs of notifications of all connections together: above the limit the slowest readers are cut. */
export function watchBacklogs(
  connections: ReadonlySet<ServedConnection>,
  { clock, logger }: { readonly clock: Pick<Clock, "nowMs">; readonly logger: Logger },
): (bytes: number) => void {
  let nextCheckMs = clock.nowMs();
  return (bytes) => {
    if (bytes < CHECKED_BACKLOG_BYTES || clock.nowMs() < nextCheckMs) return;
    nextCheckMs = clock.nowMs() + CHECK_PAUSE_MS;
    cutSlowest(connections, ({ backlogBytes }) => backlogBytes, ALL_BACKLOGS_BYTES, logger);
  };
}

/** The same for answers, with the limit `limitBytes`: a client may request many large ones before the first is ready. */
export function watchAnswers(
  connections: ReadonlySet<ServedConnection>,
  limitBytes: number,
  logger: Logger,
): (bytes: number) => void {
  /** Bytes, including those of connections that were just cut. */
  let total = 0;
  return (bytes) => {
    total += bytes;
    if (bytes < 0 || total <= limitBytes) return;
    cutSlowest(connections, ({ unreadAnswerBytes }) => unreadAnswerBytes, limitBytes, logger);
  };
}

/** Cuts the connections with most unread bytes until the rest is within the limit. */
function cutSlowest(
  connections: ReadonlySet<ServedConnection>,
  waitingFor: (connection: ServedConnection) => number,
  limitBytes: number,
  logger: Logger,
): void {
  let total = 0;
  for (const connection of connections) total += waitingFor(connection);
  if (total <= limitBytes) return;
  logger.warn(
    { waitingBytes: total },
    "WebSocket clients read too slowly; the slowest connections are closed",
  );
  for (const connection of [...connections].sort((a, b) => waitingFor(b) - waitingFor(a))) {
    total -= waitingFor(connection);
    connection.cut();
    if (total <= limitBytes) return;
  }
}

const CHECKED_BACKLOG_BYTES = 1024 * 1024;
const CHECK_PAUSE_MS = 100;
