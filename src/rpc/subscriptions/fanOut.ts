import type { Logger } from "../../observability/logger.ts";
import type { Connection } from "../method.ts";
import type { EventText } from "./notificationText.ts";
import type { Subscription } from "./subscriptionTable.ts";

/** One subscriber is to be told of one event. */
export interface Notification {
  readonly subscription: Subscription;
  readonly event: EventText;
}

/**
 * Tells events to their subscribers, in the order in which they happened.
 *
 * A block with thousands of logs and thousands of subscriptions to them make millions of notices. So notices are made as
 * they are sent, and after some of them the event loop gets its turn: consensus goes on, and sockets send what was
 * written to them, without which no reader could be told from one that does not read. Few notices are sent at once.
 */
export interface FanOut {
  /** `notices` may also yield undefined: it has done some work, and nobody is to be told. */
  tell(notifications: Iterator<Notification | undefined>): void;
}

export interface FanOutParts {
  /** Whether a subscription has not been ended meanwhile. */
  isLive(subscription: Subscription): boolean;
  /** More events wait than may: whoever has so many subscribers that they cannot be told has to go. */
  onTooMany(): void;
  readonly logger: Logger;
}

/** Events that may wait for those before them to be told. */
export const EVENTS_WAITING = 20_000;

export function createFanOut({ isLive, onTooMany, logger }: FanOutParts): FanOut {
  const waiting: Iterator<Notification | undefined>[] = [];
  let isScheduled = false;
  /** Told last; undefined in a new turn. */
  let told: Connection | undefined;

  /** Tells until everything is told or it is the others' turn. */
  function work(): void {
    told = undefined;
    let budget = WORK_PER_TURN;
    let done = 0;
    while (budget > 0) {
      const notifications = waiting[done];
      if (notifications === undefined) break;
      const cost = tellNext(notifications);
      if (cost === undefined) done++;
      else budget -= cost;
    }
    waiting.splice(0, done);
    if (waiting.length === 0 || isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      work();
    });
  }

  /** What it took; undefined when there was no more. A fault of ours ends the event, and nothing else. */
  function tellNext(notifications: Iterator<Notification | undefined>): number | undefined {
    try {
      const next = notifications.next();
      if (next.done === true) return undefined;
      if (next.value === undefined || !isLive(next.value.subscription)) return STEP_WORK;
      const { subscription, event } = next.value;
      const { connection } = subscription;
      const isGathered = connection === told;
      told = connection;
      connection.notify(subscription.id, event);
      return (isGathered ? GATHERED_NOTIFICATION_WORK : NOTIFICATION_WORK) + event.json.length;
    } catch (error) {
      logger.error({ error }, "notifying subscribers failed");
      return undefined;
    }
  }

  return {
    tell(notifications) {
      waiting.push(notifications);
      if (waiting.length > EVENTS_WAITING) {
        waiting.length = 0;
        onTooMany();
      } else if (waiting.length === 1) {
        work();
      }
    },
  };
}

/** Work is counted in bytes that are sent, a notice as some more: sending costs more than bytes. Some milliseconds. */
const WORK_PER_TURN = 1024 * 1024;
const NOTIFICATION_WORK = 4_000;
/** Of one that goes out together with another. */
const GATHERED_NOTIFICATION_WORK = 1_000;
const STEP_WORK = 1_000;
