import type { Logger } from "../../observability/logger.ts";
import type { Connection } from "../method.ts";
import type { EventText } from "./notificationText.ts";
import type { Subscription } from "./subscriptionTable.ts";

/** One event for one subscriber. */
export interface Notification {
  readonly subscription: Subscription;
  readonly event: EventText;
}

interface FanOutParts {
  /** Whether a subscription still exists. */
  isLive(subscription: Subscription): boolean;
  /** Called when more than EVENTS_WAITING events wait: the largest subscriber must be cut. */
  onTooMany(): void;
  readonly logger: Logger;
}

/** Events that may wait for the notifications of earlier ones. */
export const EVENTS_WAITING = 20_000;

/**
 * Notifies subscribers of events, in the order in which they happened.
 *
 * A block with thousands of logs and thousands of subscriptions to them makes millions of notifications. So each
 * notification is created when it is sent, and the work is split into event-loop slices: consensus goes on, and sockets
 * send what was written to them, without which a slow reader could not be told from a fast one. A small number of
 * notifications is sent at once.
 */
export class FanOut {
  private readonly parts: FanOutParts;
  private readonly waiting: Iterator<Notification | undefined>[] = [];
  private isScheduled = false;
  /** The connection notified last; undefined in a new slice. */
  private lastNotified: Connection | undefined;

  constructor(parts: FanOutParts) {
    this.parts = parts;
  }

  /** Sends the notifications of an event. The iterator yields undefined after work that results in no notification. */
  publish(notifications: Iterator<Notification | undefined>): void {
    this.waiting.push(notifications);
    if (this.waiting.length > EVENTS_WAITING) {
      this.waiting.length = 0;
      this.parts.onTooMany();
    } else if (this.waiting.length === 1) {
      this.work();
    }
  }

  /** Sends until no event waits or the budget of the slice is spent. */
  private work(): void {
    this.lastNotified = undefined;
    let budget = WORK_PER_SLICE;
    let done = 0;
    while (budget > 0) {
      const notifications = this.waiting[done];
      if (notifications === undefined) break;
      const cost = this.notifyNext(notifications);
      if (cost === undefined) done++;
      else budget -= cost;
    }
    this.waiting.splice(0, done);
    if (this.waiting.length === 0 || this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.work();
    });
  }

  /** Sends the next notification and returns its cost; undefined at the end. A bug of the node ends only the event. */
  private notifyNext(notifications: Iterator<Notification | undefined>): number | undefined {
    try {
      const next = notifications.next();
      if (next.done === true) return undefined;
      if (next.value === undefined || !this.parts.isLive(next.value.subscription)) return STEP_WORK;
      const { subscription, event } = next.value;
      const { connection } = subscription;
      const isGathered = connection === this.lastNotified;
      this.lastNotified = connection;
      connection.notify(subscription.id, event);
      return (isGathered ? GATHERED_NOTIFICATION_WORK : NOTIFICATION_WORK) + event.json.length;
    } catch (error) {
      this.parts.logger.error({ error }, "notifying subscribers failed");
      return undefined;
    }
  }
}

/** Work is counted in bytes, plus a fixed cost for each notification. A slice takes some milliseconds. */
const WORK_PER_SLICE = 1024 * 1024;
const NOTIFICATION_WORK = 4_000;
/** The cost of a notification that is sent together with another. */
const GATHERED_NOTIFICATION_WORK = 1_000;
const STEP_WORK = 1_000;
