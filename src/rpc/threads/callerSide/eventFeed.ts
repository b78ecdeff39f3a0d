import { asHash } from "../../../primitives/hash.ts";
import { unpackTransactions } from "../../core/packedTransactions.ts";
import type { SubscriptionPorts } from "../../subscriptions/subscriptions.ts";
import { ADDED, DROPPED, HEADS } from "../interests.ts";
import type { PoolEvents, ToThread } from "../messages.ts";

/** Events of the main thread (mainSide/eventSource.ts) and the progress of syncing, for the subscribers of this thread. */
export class EventFeed implements Pick<SubscriptionPorts, "onSyncChanged" | "onLost"> {
  readonly pool: SubscriptionPorts["pool"];
  private readonly added = new Listeners<Parameters<SubscriptionPorts["pool"]["onAdded"]>[0]>();
  private readonly dropped = new Listeners<Parameters<SubscriptionPorts["pool"]["onDropped"]>[0]>();
  private readonly syncing = new Listeners<Parameters<SubscriptionPorts["onSyncChanged"]>[0]>();

  private readonly losing = new Listeners<() => void>();
  private readonly tell: () => void;
  private areHeadsAwaited = false;

  /** `want` takes what callers of the thread wait for. */
  constructor(want: (kinds: number) => void) {
    this.tell = () =>
      want(
        (this.added.all.size > 0 ? ADDED : 0) |
          (this.dropped.all.size > 0 ? DROPPED : 0) |
          (this.areHeadsAwaited ? HEADS : 0),
      );
    this.pool = {
      onAdded: (listener) => this.added.listen(listener, this.tell),
      onDropped: (listener) => this.dropped.listen(listener, this.tell),
    };
  }

  /** Whether the thread is to hear of each head at once (mainSide/headNews.ts), from now on. */
  awaitHeads(areAwaited: boolean): void {
    this.areHeadsAwaited = areAwaited;
    this.tell();
  }

  readonly onSyncChanged: SubscriptionPorts["onSyncChanged"] = (listener) =>
    this.syncing.listen(listener, () => undefined);

  /** Calls `listener` when events were lost because this thread was too slow. */
  readonly onLost = (listener: () => void): void => void this.losing.listen(listener, () => undefined);

  syncChanged(status: ToThread["syncing"]): void {
    for (const listener of this.syncing.all) listener(status);
  }

  receive({ added, dropped, areLost }: PoolEvents): void {
    for (const transaction of unpackTransactions(added))
      for (const listener of this.added.all) listener({ transaction });
    for (let at = 0; at < dropped.length; at += 32) {
      const hash = asHash(dropped.slice(at, at + 32));
      for (const listener of this.dropped.all) listener({ transaction: { hash } });
    }
    if (areLost) for (const listener of this.losing.all) listener();
  }
}

class Listeners<Listener> {
  readonly all = new Set<Listener>();

  listen(listener: Listener, onChanged: () => void): () => void {
    this.all.add(listener);
    onChanged();
    return () => {
      this.all.delete(listener);
      onChanged();
    };
  }
}
