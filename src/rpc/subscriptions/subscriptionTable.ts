import { toQuantity } from "../../primitives/quantity.ts";
import type { Connection } from "../method.ts";
import type { SubscriptionKind, SubscriptionParameters } from "../parameters/subscriptionParameters.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";

/** The events that one connection subscribed to. */
export interface Subscription {
  readonly id: string;
  readonly connection: Connection;
  readonly parameters: SubscriptionParameters;
}

export type SubscriptionTo<Kind extends SubscriptionKind> = Subscription & {
  readonly parameters: Extract<SubscriptionParameters, { readonly kind: Kind }>;
};

/** The subscriptions of all connections; closing a connection removes its subscriptions. */
export interface SubscriptionTable {
  /** Returns the new id, from one counter for the whole node; undefined when there are too many. */
  add(connection: Connection, parameters: SubscriptionParameters): string | undefined;
  find(id: string): Subscription | undefined;
  remove(subscription: Subscription): void;
  /** The subscriptions of one kind in the order of their ids. */
  of<Kind extends SubscriptionKind>(kind: Kind): Iterable<SubscriptionTo<Kind>>;
  has(kind: SubscriptionKind): boolean;
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
  const byKind: { readonly [Kind in SubscriptionKind]: Map<string, SubscriptionTo<Kind>> } = {
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
    const { id, connection, parameters } = subscription;
    if (!byId.delete(id)) return;
    byKind[parameters.kind].delete(id);
    byConnection.get(connection)?.delete(subscription);
    criteria -= sizeOf(parameters);
    metrics?.unsubscribed(parameters.kind);
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
    add(connection, parameters) {
      const own = byConnection.get(connection) ?? startConnection(connection);
      const exceedsLimit =
        own.size >= SUBSCRIPTIONS_PER_CONNECTION || criteria + sizeOf(parameters) > CRITERIA_LIMIT;
      if (exceedsLimit) return undefined;
      lastId++;
      const subscription = { id: toQuantity(lastId), connection, parameters };
      byId.set(subscription.id, subscription);
      // The map has the kind of the parameters.
      (byKind[parameters.kind] as Map<string, Subscription>).set(subscription.id, subscription);
      own.add(subscription);
      criteria += sizeOf(parameters);
      metrics?.subscribed(parameters.kind);
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

function sizeOf(parameters: SubscriptionParameters): number {
  if (parameters.kind !== "logs") return 0;
  const { addresses, topics } = parameters.filter;
  return topics.reduce((sum, choice) => sum + (choice === "any" ? 0 : choice.length), addresses.length);
}
