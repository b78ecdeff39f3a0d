import type { KindsThat, MainChannel, ToThread } from "../messages.ts";

/** What a thread is told of which only the newest counts. */
type NotificationKind = KindsThat<"newest wins">;

/** Tells a thread things at once, or the newest of each kind once the thread, which may be held up, has worked on earlier ones. */
export class Notifications {
  private readonly channel: Pick<MainChannel, "offer" | "whenRoom">;
  private readonly waiting = new Map<NotificationKind, () => boolean>();

  constructor(channel: Pick<MainChannel, "offer" | "whenRoom">) {
    this.channel = channel;
  }

  tell<Kind extends NotificationKind>(kind: Kind, content: ToThread[Kind]): void {
    const offer = (): boolean => this.channel.offer(kind, content);
    if (this.waiting.has(kind)) this.waiting.set(kind, offer);
    else if (!offer()) {
      this.waiting.set(kind, offer);
      void this.channel.whenRoom(() => this.hasSent(kind));
    }
  }

  private hasSent(kind: NotificationKind): boolean {
    if (this.waiting.get(kind)?.() === false) return false;
    this.waiting.delete(kind);
    return true;
  }
}
