import { toQuantity } from "../../primitives/quantity.ts";
import type { Connection } from "../method.ts";
import type { Wish, WishKind } from "../parameters/subscriptionParameters.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";

/** Who wants to hear of what. */
export interface Subscription {
  readonly id: string;
  readonly connection: Connection;
  readonly wish: Wish;
}

export type SubscriptionTo<Kind extends WishKind> = Subscription & {
  readonly wish: Extract<Wish, { readonly kind: Kind }>;
};

/** The subscriptions of all connections; those of a connection end with it. */
export interface SubscriptionTable {
  /** Answers the new id, from one counter for the whole node; undefined when there are too many. */
  add(connection: Connection, wish: Wish): string | undefined;
  find(id: string): Subscription | undefined;
  remove(subscription: Subscription): void;
  /** Those of one kind in the order of their ids. */
  of<Kind extends WishKind>(kind: Kind): Iterable<SubscriptionTo<Kind>>;
  has(kind: WishKind): boolean;
  /** The connection with most subscriptions; undefined when there are none. */
  busiestConnection(): Connection | undefined;
}

/** Subscriptions that one connection may hold. */
export const SUBSCRIPTIONS_PER_CONNECTION = 1_000;
/** Addresses and topics that all log subscriptions together may hold. */
const CRITERIA_LIMIT = 200_000;

/** `onChanged` is called after something was added or removed. */
export function createSubscriptionTable(
  onChanged: () => void,
  metrics?: Pick<RpcMetrics, "subscribed" | "unsubscribed">,
): SubscriptionTable {
  const byId = new Map<string, Subscription>();
  /** Ids only grow, so the order of a map is the order of the ids. */
  const byKind: { readonly [Kind in WishKind]: Map<string, SubscriptionTo<Kind>> } = {
    newHeads: new Map(),
    logs: new Map(),
    newPendingTransactions: new Map(),
    droppedPendingTransactions: new Map(),
    syncing: new Map(),
  };
  const byConnection = new Map<Connection, Set<Subscription>>();
  let lastId = 0;
  let criteria = 0;

  function remove(subscription: Subscription): void {
    const { id, connection, wish } = subscription;
    if (!byId.delete(id)) return;
    byKind[wish.kind].delete(id);
    byConnection.get(connection)?.delete(subscription);
    criteria -= sizeOf(wish);
    metrics?.unsubscribed(wish.kind);
    onChanged();
  }

  function startConnection(connection: Connection): Set<Subscription> {
    const own = new Set<Subscription>();
    byConnection.set(connection, own);
    connection.onClose(() => {
      byConnection.delete(connection);
      for (const subscription of own) remove(subscription);
    });
    return own;
  }

  return {
    add(connection, wish) {
      const own = byConnection.get(connection) ?? startConnection(connection);
      const isTooMuch = own.size >= SUBSCRIPTIONS_PER_CONNECTION || criteria + sizeOf(wish) > CRITERIA_LIMIT;
      if (isTooMuch) return undefined;
      lastId++;
      const subscription = { id: toQuantity(lastId), connection, wish };
      byId.set(subscription.id, subscription);
      // The map is that of the wish's own kind.
      (byKind[wish.kind] as Map<string, Subscription>).set(subscription.id, subscription);
      own.add(subscription);
      criteria += sizeOf(wish);
      metrics?.subscribed(wish.kind);
      onChanged();
      return subscription.id;
    },
    find: (id) => byId.get(id),
    remove,
    of: (kind) => byKind[kind].values(),
    has: (kind) => byKind[kind].size > 0,
    busiestConnection() {
      let busiest: readonly [Connection, ReadonlySet<Subscription>] | undefined;
      for (const each of byConnection)
        if (busiest === undefined || each[1].size > busiest[1].size) busiest = each;
      return busiest?.[0];
    },
  };
}

function sizeOf(wish: Wish): number {
  if (wish.kind !== "logs") return 0;
  const { addresses, topics } = wish.filter;
  return topics.reduce((sum, choice) => sum + (choice === "any" ? 0 : choice.length), addresses.length);
}
