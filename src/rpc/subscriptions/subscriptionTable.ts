import { criteriaOf } from "../../logs/logMatcher.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { Connection } from "../method.ts";
import type {
  SubscriptionKind,
  SubscriptionParameters,
  WantedEvents,
} from "../parameters/subscriptionParameters.ts";
import type { RpcMetrics } from "../rpcMetrics.ts";
import { HostShares } from "../server/hostShares.ts";
import type { SharedHosts } from "../server/sharedHosts.ts";

/** The events that one connection subscribed to. */
export interface Subscription {
  readonly id: string;
  readonly connection: Connection;
  readonly remoteHost: string;
  readonly parameters: SubscriptionParameters;
}

export type SubscriptionTo<Kind extends SubscriptionKind> = Subscription & {
  readonly parameters: Extract<SubscriptionParameters, { readonly kind: Kind }>;
};

/** Room for one subscription. */
interface Place {
  readonly connection: Connection;
  readonly remoteHost: string;
  /** Addresses and topics. */
  readonly criteria: number;
}

/** Subscriptions that one connection may hold. */
export const SUBSCRIPTIONS_PER_CONNECTION = 1_000;
/** Addresses and topics that all log subscriptions together may hold, on all threads; one remote host alone can have half of them. */
const CRITERIA_LIMIT = 200_000;

function counter(): () => number {
  let last = 0;
  return () => ++last;
}

/** The subscriptions of all connections; closing a connection removes its subscriptions. */
export class SubscriptionTable {
  private readonly onChanged: () => void;
  private readonly nextId: () => number;
  private readonly metrics: Pick<RpcMetrics, "subscribed" | "unsubscribed"> | undefined;
  private readonly byId = new Map<string, Subscription>();
  /** Ids only grow, so the order of a map is the order of the ids. */
  private readonly byKind: { readonly [Kind in SubscriptionKind]: Map<string, SubscriptionTo<Kind>> } = {
    newHeads: new Map(),
    logs: new Map(),
    newPendingTransactions: new Map(),
    droppedPendingTransactions: new Map(),
    syncing: new Map(),
  };
  private readonly byConnection = new Map<Connection, Set<Subscription>>();
  /** Places that are neither used nor left. */
  private readonly reserved = new Map<Connection, number>();
  private readonly criteria: HostShares;

  /**
   * `onChanged` is called after something was added or removed. `nextId` numbers subscriptions, from 1 if not given; `criteria` is what
   * remote hosts have of addresses and topics on other threads.
   */
  constructor(
    onChanged: () => void,
    {
      nextId = counter(),
      metrics,
      criteria,
    }: {
      readonly nextId?: (() => number) | undefined;
      readonly metrics?: Pick<RpcMetrics, "subscribed" | "unsubscribed"> | undefined;
      readonly criteria?: SharedHosts | undefined;
    } = {},
  ) {
    this.onChanged = onChanged;
    this.nextId = nextId;
    this.metrics = metrics;
    this.criteria = new HostShares(CRITERIA_LIMIT, criteria);
  }

  /**
   * Takes a place for these events before they are prepared, which takes long where they have many criteria; undefined when there
   * are too many. It is either used or left.
   */
  reserve(connection: Connection, remoteHost: string, wanted: WantedEvents): Place | undefined {
    const reserved = this.reserved.get(connection) ?? 0;
    const held = this.byConnection.get(connection)?.size ?? 0;
    if (held + reserved >= SUBSCRIPTIONS_PER_CONNECTION) return undefined;
    const criteria = sizeOf(wanted);
    if (!this.criteria.take(remoteHost, criteria)) return undefined;
    this.reserved.set(connection, reserved + 1);
    return { connection, remoteHost, criteria };
  }

  /** Gives the place back. */
  leave({ connection, remoteHost, criteria }: Place): void {
    this.endReservation(connection);
    this.criteria.giveBack(remoteHost, criteria);
  }

  /** Uses the place. Returns the new id, from one counter for the whole node. */
  add({ connection, remoteHost }: Place, parameters: SubscriptionParameters): string {
    this.endReservation(connection);
    const own = this.byConnection.get(connection) ?? this.startConnection(connection);
    const subscription = { id: toQuantity(this.nextId()), connection, remoteHost, parameters };
    this.byId.set(subscription.id, subscription);
    // The map has the kind of the parameters.
    (this.byKind[parameters.kind] as Map<string, Subscription>).set(subscription.id, subscription);
    own.add(subscription);
    connection.subscribed(own.size);
    this.metrics?.subscribed(parameters.kind);
    this.onChanged();
    return subscription.id;
  }

  find(id: string): Subscription | undefined {
    return this.byId.get(id);
  }

  remove(subscription: Subscription): void {
    const { id, connection, remoteHost, parameters } = subscription;
    if (!this.byId.delete(id)) return;
    this.byKind[parameters.kind].delete(id);
    const own = this.byConnection.get(connection);
    if (own?.delete(subscription) === true) connection.subscribed(own.size);
    this.criteria.giveBack(remoteHost, sizeOf(parameters));
    this.metrics?.unsubscribed(parameters.kind);
    this.onChanged();
  }

  /** The subscriptions of one kind in the order of their ids. */
  of<Kind extends SubscriptionKind>(kind: Kind): Iterable<SubscriptionTo<Kind>> {
    return this.byKind[kind].values();
  }

  has(kind: SubscriptionKind): boolean {
    return this.byKind[kind].size > 0;
  }

  /** The connection with most subscriptions; undefined when there are none. */
  busiestConnection(): Connection | undefined {
    let busiest: readonly [Connection, ReadonlySet<Subscription>] | undefined;
    for (const each of this.byConnection)
      if (busiest === undefined || each[1].size > busiest[1].size) busiest = each;
    return busiest?.[0];
  }

  private endReservation(connection: Connection): void {
    const others = (this.reserved.get(connection) ?? 0) - 1;
    if (others > 0) this.reserved.set(connection, others);
    else this.reserved.delete(connection);
  }

  private startConnection(connection: Connection): Set<Subscription> {
    const own = new Set<Subscription>();
    this.byConnection.set(connection, own);
    connection.onClose(() => {
      this.byConnection.delete(connection);
      for (const subscription of own) this.remove(subscription);
    });
    return own;
  }
}

function sizeOf(wanted: WantedEvents): number {
  return wanted.kind === "logs" ? criteriaOf(wanted.filter) : 0;
}
