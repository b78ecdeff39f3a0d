import { HEADS } from "../interests.ts";
import type { Notifications } from "./notifications.ts";

/** Time between two heads that a thread hears of although nobody waits for them there. */
const UNAWAITED_MS = 500;

/**
 * Tells a thread that the head has moved. One whose callers wait for heads hears of each. Any other one finds the newest head when
 * it is asked (onNewestHead.ts), and is told now and then, so that its view holds on to nothing old: instant blocks, and those of a
 * sync, come more often than callers ask.
 */
export class HeadNews {
  private readonly interests: () => number;
  private readonly notifications: Pick<Notifications, "tell">;
  private readonly nowMs: () => number;
  private toldMs = Number.NEGATIVE_INFINITY;

  /** `interests` are the kinds of events that the thread wants. */
  constructor(interests: () => number, notifications: Pick<Notifications, "tell">, nowMs: () => number) {
    this.interests = interests;
    this.notifications = notifications;
    this.nowMs = nowMs;
  }

  /** Called after each move of the head, when it was shown. */
  headChanged(): void {
    const nowMs = this.nowMs();
    if ((this.interests() & HEADS) === 0 && nowMs - this.toldMs < UNAWAITED_MS) return;
    this.toldMs = nowMs;
    this.notifications.tell("head", undefined);
  }
}
