import type { HeadChange, LocatedLog } from "../../chain/chain.ts";
import { locateLogs } from "../../logs/logQuery.ts";
import { logJson } from "../../logs/logResult.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { toKey } from "../../primitives/byteKey.ts";
import type { StoredBlock } from "../../types/block.ts";
import type { Connection } from "../method.ts";
import { type BlockDetail, blockJson } from "../results/blockResult.ts";
import type { Notification } from "./fanOut.ts";
import { createEventText, type EventText } from "./notificationText.ts";
import type { SubscriptionTable, SubscriptionTo } from "./subscriptionTable.ts";

export type Notifications = Generator<Notification | undefined, void>;

/**
 * What subscribers are told of a new head: the logs of blocks that are gone, then of each block its logs and its header.
 *
 * One connection after another, and each is told all that it wants to know of a block: what is written to it in one turn
 * goes out together. To write to 2,000 of them for each of five logs, and for the header, took three times as long. On a
 * connection logs come in their order, each to its subscriptions by id, then the header. Only one that falls behind with
 * what it has been told hears the rest in goes, after the others, so that it has time to read.
 */
export function* ofHeadChange(table: SubscriptionTable, { added, removed }: HeadChange): Notifications {
  for (const block of removed) yield* ofBlock(table, block, "removed");
  for (const block of added) yield* ofBlock(table, block);
}

type LogSubscription = SubscriptionTo<"logs">;

/** The subscriptions of one connection that a block may be news to, by id. */
interface Audience {
  readonly ofAny: LogSubscription[];
  readonly byAddress: Map<string, LogSubscription[]>;
  readonly heads: SubscriptionTo<"newHeads">[];
  logSubscriptions: number;
}

function* ofBlock(table: SubscriptionTable, block: StoredBlock, removed?: "removed"): Notifications {
  const audiences = new Map<Connection, Audience>();
  yield* addLogSubscribers(audiences, table, block);
  if (removed === undefined) yield* addHeadSubscribers(audiences, table);
  if (audiences.size === 0) return;
  const logs = yield* locate(audiences, block, removed);
  const heads = new Map<BlockDetail, EventText>();
  let behind: ConnectionNotifications[] = [];
  for (const [connection, audience] of audiences) {
    const notifications = notificationsFor(audience, logs, block, heads);
    const most = audience.logSubscriptions * logs.all.length + audience.heads.length;
    // Nearly all have few, and to look at each of those on its way would cost time.
    if (most <= NOTIFICATIONS_PER_GO) yield* notifications;
    else if ((yield* tellInOneGo({ connection, notifications })) === "behind")
      behind.push({ connection, notifications });
  }
  while (behind.length > 0) {
    const before = behind;
    behind = [];
    for (const own of before) if ((yield* tellInOneGo(own)) === "behind") behind.push(own);
  }
}

interface ConnectionNotifications {
  readonly connection: Connection;
  readonly notifications: Notifications;
}

/** Tells a connection all that it wants to know, or as much as it keeps up with, but at least some. */
function* tellInOneGo({
  connection,
  notifications,
}: ConnectionNotifications): Generator<Notification | undefined, "told" | "behind"> {
  let count = 0;
  // Not for-of, which would end the notices with the first go.
  for (let next = notifications.next(); next.done !== true; next = notifications.next()) {
    yield next.value;
    if (++count % NOTIFICATIONS_PER_GO === 0 && connection.isBehind()) return "behind";
  }
  return "told";
}

function* notificationsFor(
  audience: Audience,
  logs: WantedLogs,
  block: StoredBlock,
  heads: Map<BlockDetail, EventText>,
): Notifications {
  yield* logsFor(audience, logs);
  for (const subscription of audience.heads) {
    const { detail } = subscription.parameters;
    const event = heads.get(detail) ?? createEventText(blockJson(block, detail));
    heads.set(detail, event);
    yield { subscription, event };
  }
}

/** Most are ruled out here: by numbers, or by the bloom. */
function* addLogSubscribers(
  audiences: Map<Connection, Audience>,
  table: SubscriptionTable,
  { header }: StoredBlock,
): Notifications {
  let looks = 0;
  let keys = 0;
  for (const subscription of table.of("logs")) {
    if (++looks % LOOKS_PER_STEP === 0) yield undefined;
    const { filter, matcher } = subscription.parameters;
    if (!isWithin(header.number, subscription) || !matcher.mayMatch(header.logsBloom)) continue;
    const audience = audienceOf(subscription.connection, audiences);
    audience.logSubscriptions++;
    const { ofAny, byAddress } = audience;
    if (filter.addresses.length === 0) ofAny.push(subscription);
    for (const address of filter.addresses) {
      if (++keys % ADDRESSES_PER_STEP === 0) yield undefined;
      const key = toKey(address);
      // Those of a filter follow each other, so one that is named twice is seen at the end.
      if (byAddress.get(key)?.at(-1) !== subscription) append(byAddress, key, subscription);
    }
  }
}

function* addHeadSubscribers(audiences: Map<Connection, Audience>, table: SubscriptionTable): Notifications {
  let looks = 0;
  for (const subscription of table.of("newHeads")) {
    if (++looks % LOOKS_PER_STEP === 0) yield undefined;
    audienceOf(subscription.connection, audiences).heads.push(subscription);
  }
}

function audienceOf(connection: Connection, audiences: Map<Connection, Audience>): Audience {
  const known = audiences.get(connection);
  if (known !== undefined) return known;
  const audience: Audience = { ofAny: [], byAddress: new Map(), heads: [], logSubscriptions: 0 };
  audiences.set(connection, audience);
  return audience;
}

/** Logs of a block from addresses that somebody listens to, and their texts once somebody is told of them. */
interface WantedLogs {
  readonly all: readonly LocatedLog[];
  /** Places in the list. */
  readonly byAddress: ReadonlyMap<string, readonly number[]>;
  readonly texts: (EventText | undefined)[];
}

function* locate(
  audiences: ReadonlyMap<Connection, Audience>,
  block: StoredBlock,
  removed?: "removed",
): Generator<undefined, WantedLogs> {
  const addresses = new Set<string>();
  let isAny = false;
  for (const { ofAny } of audiences.values()) isAny ||= ofAny.length > 0;
  let keys = 0;
  // To whom all are news, which ones others want makes no difference.
  for (const { byAddress } of isAny ? [] : audiences.values()) {
    for (const key of byAddress.keys()) {
      if (++keys % ADDRESSES_PER_STEP === 0) yield undefined;
      addresses.add(key);
    }
  }
  const all: LocatedLog[] = [];
  const byAddress = new Map<string, number[]>();
  if (!isAny && addresses.size === 0) return { all, byAddress, texts: [] };
  for (const located of locateLogs(block, ({ address }) => isAny || addresses.has(toKey(address)), removed)) {
    append(byAddress, toKey(located.log.address), all.length);
    if (all.push(located) % LOOKS_PER_STEP === 0) yield undefined;
  }
  return { all, byAddress, texts: [] };
}

function* logsFor({ ofAny, byAddress }: Audience, logs: WantedLogs): Notifications {
  let looks = 0;
  for (const place of placesFor(ofAny, byAddress, logs)) {
    const located = expectDefined(logs.all[place], "a log of the block");
    const ofThis = byAddress.get(toKey(located.log.address)) ?? [];
    const candidates = ofAny.length === 0 ? ofThis : [...ofThis, ...ofAny].sort(byId);
    for (const subscription of candidates) {
      if (++looks % LOOKS_PER_STEP === 0) yield undefined;
      if (!subscription.parameters.matcher.isWanted(located.log)) continue;
      const event = logs.texts[place] ?? createEventText(logJson(located));
      logs.texts[place] = event;
      yield { subscription, event };
    }
  }
}

/** Places of the logs that may be wanted, in their order. */
function placesFor(
  ofAny: Audience["ofAny"],
  byAddress: Audience["byAddress"],
  logs: WantedLogs,
): Iterable<number> {
  if (ofAny.length > 0) return logs.all.keys();
  const [few, many] =
    byAddress.size < logs.byAddress.size ? [byAddress, logs.byAddress] : [logs.byAddress, byAddress];
  const lists: (readonly number[])[] = [];
  for (const key of few.keys()) if (many.has(key)) lists.push(logs.byAddress.get(key) ?? []);
  return lists.length === 1 ? (lists[0] ?? []) : lists.flat().sort((a, b) => a - b);
}

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Notices after which it is looked whether the connection keeps up: some 100 kB. */
const NOTIFICATIONS_PER_GO = 100;

/** Subscriptions, or logs, that are looked at for one piece of work. */
const LOOKS_PER_STEP = 100;
/** The same for addresses that somebody listens to: each costs a text to find it by. */
const ADDRESSES_PER_STEP = 20;

function byId(a: LogSubscription, b: LogSubscription): number {
  return Number(a.id) - Number(b.id);
}

/** Only numbers bound a subscription, and the tag that is one; the others do not. */
function isWithin(number: bigint, { parameters: { filter } }: LogSubscription): boolean {
  const { from } = filter;
  const to = filter.to === "earliest" ? 0n : filter.to;
  return (typeof from !== "bigint" || number >= from) && (typeof to !== "bigint" || number <= to);
}
